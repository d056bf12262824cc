# nothing but comments

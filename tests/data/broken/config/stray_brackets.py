def f(:
  return ]
 a == b = c

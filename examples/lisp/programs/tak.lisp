; Takeuchi's function: calls and little else. R. P. Gabriel, Performance and Evaluation of Lisp Systems (1985).
(define (tak x y z)
  (if (not (< y x))
      z
      (tak (tak (- x 1) y z)
           (tak (- y 1) z x)
           (tak (- z 1) x y))))

(display (tak 18 12 6))
(newline)

; The same on lists: a number is the length of a list.
(define (iota-down n) (if (= n 0) '() (cons n (iota-down (- n 1)))))

(define (shorter? x y)
  (and (not (null? y))
       (or (null? x) (shorter? (cdr x) (cdr y)))))

(define (takl x y z)
  (if (not (shorter? y x))
      z
      (takl (takl (cdr x) y z)
            (takl (cdr y) z x)
            (takl (cdr z) x y))))

(display (takl (iota-down 12) (iota-down 8) (iota-down 4)))
(newline)

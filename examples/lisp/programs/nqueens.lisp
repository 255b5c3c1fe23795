; How many ways are there to put n queens on a board of n by n, none attacking another?
(define (one-to n)
  (let loop ((i n) (l '()))
    (if (= i 0) l (loop (- i 1) (cons i l)))))

(define (safe? row distance placed)
  (or (null? placed)
      (and (not (= (car placed) (+ row distance)))
           (not (= (car placed) (- row distance)))
           (safe? row (+ distance 1) (cdr placed)))))

; candidates: rows not tried yet; others: rows tried in vain here; placed: rows of the queens to the left.
(define (try candidates others placed)
  (if (null? candidates)
      (if (null? others) 1 0)
      (+ (if (safe? (car candidates) 1 placed)
             (try (append (cdr candidates) others) '() (cons (car candidates) placed))
             0)
         (try (cdr candidates) (cons (car candidates) others) placed))))

(define (queens n) (try (one-to n) '() '()))

(for-each
  (lambda (n)
    (display n)
    (display " queens: ")
    (display (queens n))
    (newline))
  '(1 2 3 4 5 6 7 8))

; The first solution for eight, as a board.
(define (first-solution n)
  (let place ((column 0) (placed '()))
    (if (= column n)
        placed
        (let next ((row 1))
          (cond ((> row n) #f)
                ((and (not (memv row placed)) (safe? row 1 placed) (place (+ column 1) (cons row placed))))
                (else (next (+ row 1))))))))

(for-each
  (lambda (queen)
    (do ((column 1 (+ column 1)))
        ((> column 8) (newline))
      (display (if (= column queen) "Q " ". "))))
  (first-solution 8))

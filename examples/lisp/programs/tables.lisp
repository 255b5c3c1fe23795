; Hash tables with equal? keys.
(define (show x) (write x) (newline))

; Word frequencies.
(define text
  '(the heap is where the objects live and the stack is where the roots live and the collector
    follows the roots to the objects that live))

(define counts (make-hash-table))
(for-each
  (lambda (word)
    (hash-table-set! counts word (+ 1 (hash-table-ref/default counts word 0))))
  text)

(define (by-count a b)
  (or (> (cdr a) (cdr b))
      (and (= (cdr a) (cdr b))
           (string<? (symbol->string (car a)) (symbol->string (car b))))))

(for-each
  (lambda (entry)
    (display (car entry))
    (display " ")
    (display (cdr entry))
    (newline))
  (sort (hash-table->alist counts) by-count))

; Keys by content: lists, strings, numbers, vectors.
(define t (make-hash-table))
(hash-table-set! t '(1 2) 'list)
(hash-table-set! t "key" 'string)
(hash-table-set! t (vector 1 2) 'vector)
(hash-table-set! t #\k 'char)
(show (map (lambda (key) (hash-table-ref/default t key 'none))
           (list (list 1 2) (string-append "k" "ey") (vector 1 2) #\k '(1 3))))
(show (hash-table-size t))
(hash-table-delete! t "key")
(show (list (hash-table-size t) (hash-table-exists? t "key") (hash-table-exists? t '(1 2))))

; A memo: the number of steps to 1 in Collatz's sequence.
(define memo (make-hash-table))
(define (steps n)
  (if (= n 1)
      0
      (or (hash-table-ref/default memo n #f)
          (let ((s (+ 1 (steps (if (even? n) (quotient n 2) (+ 1 (* 3 n)))))))
            (hash-table-set! memo n s)
            s))))

(define (longest below)
  (let loop ((n 1) (best 1) (most 0))
    (if (= n below)
        (cons best most)
        (let ((s (steps n)))
          (if (> s most) (loop (+ n 1) n s) (loop (+ n 1) best most))))))
(show (longest 1000))
(show (> (hash-table-size memo) 1000))

; Keys that move: thousands of pairs, found again by content.
(define places (make-hash-table))
(do ((x 0 (+ x 1))) ((= x 40))
  (do ((y 0 (+ y 1))) ((= y 40))
    (hash-table-set! places (cons x y) (* x y))))
(show (hash-table-ref/default places (cons 17 23) #f))
(show (apply + (hash-table-values places)))
(do ((x 0 (+ x 1))) ((= x 40))
  (do ((y 0 (+ y 1))) ((= y 40))
    (if (odd? (+ x y)) (hash-table-delete! places (cons x y)))))
(show (hash-table-size places))
(show (length (hash-table-keys places)))

; A server for a hundred users. It remembers the last answer to each of them.
(define answers (make-hash-table))

(define (answer user n)
  (string-append "hello " user ", this is request " (number->string n)))

(define (serve n)
  (let* ((user (string-append "user-" (number->string (remainder n 100))))
         (text (answer user n)))
    (hash-table-set! answers (cons user n) text)
    text))

(define (serve-all from to)
  (when (< from to)
    (serve from)
    (serve-all (+ from 1) to)))

(serve-all 0 2000)
(heap-census)
(heap-snapshot "before.heapsnapshot")
(serve-all 2000 20000)
(heap-census)
(heap-snapshot "after.heapsnapshot")
(heap-collect)

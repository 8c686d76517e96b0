;; component: types world libc main instance …
;; Exports a `run` that takes no namespaces.
  (core func $short (canon lower (func $host "[method]execution.log") (memory $memory)))
  (func $short-run (param "execution" (borrow $execution)) (param "program" string)
    (canon lift (core func $short) (memory $memory) (realloc $realloc)))
  (export "announce" (func $announce))
  (export "run" (func $short-run))

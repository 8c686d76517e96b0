;; component: types world libc main … exports
;; Exports a `run` that wants the execution for itself instead of lent.
  (core instance $main (instantiate $main-module
    (with "libc" (instance $libc))
    (with "host" (instance
      (export "log" (func $log)) (export "complete" (func $complete)) (export "drop" (func $drop))))))
  (func $announce (result $announcement) (canon lift (core func $main "announce") (memory $memory)))
  (func $run
    (param "execution" (own $execution)) (param "program" string) (param "namespaces" (list $namespace))
    (canon lift (core func $main "run") (memory $memory) (realloc $realloc)))

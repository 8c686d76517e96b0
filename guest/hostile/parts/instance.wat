  ;; The main module's instance, and its two functions lifted.
  (core instance $main (instantiate $main-module
    (with "libc" (instance $libc))
    (with "host" (instance
      (export "log" (func $log)) (export "complete" (func $complete)) (export "drop" (func $drop))))))
  (func $announce (result $announcement) (canon lift (core func $main "announce") (memory $memory)))
  (func $run
    (param "execution" (borrow $execution)) (param "program" string) (param "namespaces" (list $namespace))
    (canon lift (core func $main "run") (memory $memory) (realloc $realloc)))

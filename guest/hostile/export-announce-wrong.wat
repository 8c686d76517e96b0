;; component: types world libc main instance …
;; Exports an `announce` that takes a text.
  (core module $wrong-module
    (func (export "announce") (param i32 i32) (result i32) (i32.const 57360)))
  (core instance $wrong (instantiate $wrong-module))
  (func $wrong-announce (param "who" string) (result $announcement)
    (canon lift (core func $wrong "announce") (memory $memory) (realloc $realloc)))
  (export "announce" (func $wrong-announce))
  (export "run" (func $run))

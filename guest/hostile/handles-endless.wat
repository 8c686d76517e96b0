;; component: types world libc … exports
;; Makes handles of a resource of its own until that is refused.
  (type $thing (resource (rep i32)))
  (core func $new (canon resource.new $thing))
  (core module $main-module
    (import "libc" "memory" (memory 2))
    (import "host" "new" (func $new (param i32) (result i32)))
    (data (i32.const 57344) "watnone10.1")
    (data (i32.const 57360)
      "\00\e0\00\00\03\00\00\00" "\03\e0\00\00\04\00\00\00" "\07\e0\00\00\01\00\00\00" "\08\e0\00\00\03\00\00\00")
    (func (export "announce") (result i32) (i32.const 57360))
    (func (export "run") (param i32 i32 i32 i32 i32)
      (loop $again
        (drop (call $new (i32.const 0)))
        (br $again))))
  (core instance $main (instantiate $main-module
    (with "libc" (instance $libc)) (with "host" (instance (export "new" (func $new))))))
  (func $announce (result $announcement) (canon lift (core func $main "announce") (memory $memory)))
  (func $run
    (param "execution" (borrow $execution)) (param "program" string) (param "namespaces" (list $namespace))
    (canon lift (core func $main "run") (memory $memory) (realloc $realloc)))

;; component: types world libc … exports
;; Exports a second function, `again`, that uses the execution which `run` saved. Nobody calls it.
  (core module $main-module
    (import "libc" "memory" (memory 2))
    (import "host" "log" (func $log (param i32 i32 i32)))
    (import "host" "complete" (func $complete (param i32 i32 i32 i32)))
    (import "host" "drop" (func $drop (param i32)))
    (global $saved (mut i32) (i32.const 0))
    (data (i32.const 0) "1")
    (data (i32.const 57344) "watnone10.1")
    (data (i32.const 57360)
      "\00\e0\00\00\03\00\00\00" "\03\e0\00\00\04\00\00\00" "\07\e0\00\00\01\00\00\00" "\08\e0\00\00\03\00\00\00")
    (func (export "announce") (result i32) (i32.const 57360))
    (func (export "run") (param $self i32) (param i32 i32 i32 i32)
      (global.set $saved (local.get $self))
      (call $complete (local.get $self) (i32.const 1) (i32.const 0) (i32.const 1))
      (call $drop (local.get $self)))
    (func (export "again") (call $log (global.get $saved) (i32.const 0) (i32.const 1))))
  (core instance $main (instantiate $main-module
    (with "libc" (instance $libc))
    (with "host" (instance
      (export "log" (func $log)) (export "complete" (func $complete)) (export "drop" (func $drop))))))
  (func $announce (result $announcement) (canon lift (core func $main "announce") (memory $memory)))
  (func $run
    (param "execution" (borrow $execution)) (param "program" string) (param "namespaces" (list $namespace))
    (canon lift (core func $main "run") (memory $memory) (realloc $realloc)))
  (func $again (canon lift (core func $main "again")))
  (export "again" (func $again))

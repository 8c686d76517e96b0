;; component: types world libc … exports
;; Speaks UTF-16 where the shipped guests speak UTF-8: logs "é🦀" and then, where the program begins with "1", half a
;; surrogate pair.
  (core func $log-utf16 (canon lower (func $host "[method]execution.log") (memory $memory) string-encoding=utf16))
  (core module $main-module
    (import "libc" "memory" (memory 2))
    (import "host" "log" (func $log (param i32 i32 i32)))
    (import "host" "complete" (func $complete (param i32 i32 i32 i32)))
    (import "host" "drop" (func $drop (param i32)))
    (data (i32.const 0) "1")
    (data (i32.const 16) "\e9\00\3e\d8\80\dd" "\3e\d8")
    (data (i32.const 57344) "watnone10.1")
    (data (i32.const 57360)
      "\00\e0\00\00\03\00\00\00" "\03\e0\00\00\04\00\00\00" "\07\e0\00\00\01\00\00\00" "\08\e0\00\00\03\00\00\00")
    (func (export "announce") (result i32) (i32.const 57360))
    (func (export "run") (param $self i32) (param $program i32) (param i32 i32 i32)
      (call $log (local.get $self) (i32.const 16) (i32.const 3))
      (if (i32.eq (i32.load8_u (local.get $program)) (i32.const 49))
        (then (call $log (local.get $self) (i32.const 22) (i32.const 1))))
      (call $complete (local.get $self) (i32.const 1) (i32.const 0) (i32.const 1))
      (call $drop (local.get $self))))
  (core instance $main (instantiate $main-module
    (with "libc" (instance $libc))
    (with "host" (instance
      (export "log" (func $log-utf16)) (export "complete" (func $complete)) (export "drop" (func $drop))))))
  (func $announce (result $announcement) (canon lift (core func $main "announce") (memory $memory)))
  (func $run
    (param "execution" (borrow $execution)) (param "program" string) (param "namespaces" (list $namespace))
    (canon lift (core func $main "run") (memory $memory) (realloc $realloc)))

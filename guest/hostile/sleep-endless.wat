;; parts: imports memory announce
;; Logs, and sleeps for 584 years.
  (data (i32.const 0) "about to sleep")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $log (local.get $self) (i32.const 0) (i32.const 14))
    (call $sleep (local.get $self) (i64.const -1))
    (call $drop (local.get $self)))

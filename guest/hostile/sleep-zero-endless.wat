;; parts: imports memory announce
;; Sleeps for no time, for ever.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (loop $again
      (call $sleep (local.get $self) (i64.const 0))
      (br $again)))

;; parts: imports memory announce end
;; Its start function takes all the memory it can get, a page at a time.
  (func $at-start
    (loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))))
  (start $at-start)
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $one (local.get $self)))

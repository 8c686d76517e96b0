;; parts: imports memory announce end
;; Completes, and never comes back from `run`'s post-return function.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $one (local.get $self)))
  (func (export "cabi_post_run") (loop $again (br $again)))

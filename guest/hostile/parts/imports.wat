  ;; Everything a guest can import, under short names.
  (import "hotcell:guest/host@0.1.0" "[method]execution.submit"
    (func $submit (param $self i32) (param $namespace i32) (param $name i32) (param $name-len i32)
      (param $arguments i32) (param $arguments-len i32) (param $answer i32)))
  (import "hotcell:guest/host@0.1.0" "[method]execution.next"
    (func $next (param $self i32) (param $has-timeout i32) (param $timeout i64) (param $event i32)))
  (import "hotcell:guest/host@0.1.0" "[method]execution.cancel" (func $cancel (param $self i32) (param $call i64)))
  (import "hotcell:guest/host@0.1.0" "[method]execution.log"
    (func $log (param $self i32) (param $entry i32) (param $entry-len i32)))
  (import "hotcell:guest/host@0.1.0" "[method]execution.unhandled"
    (func $unhandled (param $self i32) (param $has-call i32) (param $call i64) (param $message i32) (param $message-len i32)))
  (import "hotcell:guest/host@0.1.0" "[method]execution.wall-clock" (func $wall-clock (param $self i32) (result i64)))
  (import "hotcell:guest/host@0.1.0" "[method]execution.monotonic-clock"
    (func $monotonic-clock (param $self i32) (result i64)))
  (import "hotcell:guest/host@0.1.0" "[method]execution.sleep" (func $sleep (param $self i32) (param $duration i64)))
  (import "hotcell:guest/host@0.1.0" "[method]execution.entropy"
    (func $entropy (param $self i32) (param $length i32) (param $list i32)))
  (import "hotcell:guest/host@0.1.0" "[method]execution.members"
    (func $members (param $self i32) (param $namespace i32) (param $list i32)))
  (import "hotcell:guest/host@0.1.0" "[method]execution.complete"
    (func $complete (param $self i32) (param $has-value i32) (param $value i32) (param $value-len i32)))
  (import "hotcell:guest/host@0.1.0" "[method]execution.fail"
    (func $fail (param $self i32) (param $kind i32) (param $message i32) (param $message-len i32)))
  (import "hotcell:guest/host@0.1.0" "[resource-drop]execution" (func $drop (param $self i32)))

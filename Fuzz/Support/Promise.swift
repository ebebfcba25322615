/// Traps where a promise is broken, and says which: `precondition` says nothing where code is optimised.
func promise(
    _ isKept: Bool, _ message: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line
) {
    if !isKept { fatalError(message(), file: file, line: line) }
}

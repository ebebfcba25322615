import GRDB

/// The value of the only row; an error if there are several. The first argument is never NULL, since SQLite's interface
/// to accumulators leaves out rows whose first argument is.
final class OnlyRow: Accumulator {
    private var value: DatabaseValue?

    override func add(_ arguments: Arguments) throws {
        guard value == nil else { throw FunctionError.severalRows }
        value = arguments.value(1)
    }

    override func result() throws -> DatabaseValue { value ?? .null }
}

import Foundation
import GRDB
import GRDBSQLite

/// The state of an aggregate function for one group or window.
///
/// It uses SQLite's C interface. GRDB's aggregates create a value for every argument, which costs more than the
/// sum, and do not support windows.
class Accumulator {
    /// Adds the arguments of a row; the first one is not NULL.
    func add(_ arguments: Arguments) throws {}

    /// Removes a row that has left the window.
    func remove(_ arguments: Arguments) throws {}

    /// Returns the result so far; NULL if no rows were added.
    func result() throws -> DatabaseValue { .null }

    /// The arguments of a row, which are read on demand.
    struct Arguments {
        let values: UnsafeMutablePointer<OpaquePointer?>

        @inline(__always)
        func kind(_ index: Int) -> Int32 { sqlite3_value_type(values[index]) }

        @inline(__always)
        func integer(_ index: Int) -> Int64 { sqlite3_value_int64(values[index]) }

        @inline(__always)
        func double(_ index: Int) -> Double { sqlite3_value_double(values[index]) }

        /// Calls a closure with the bytes of a BLOB.
        @inline(__always)
        func withBlob<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
            let start = sqlite3_value_blob(values[index])
            let count = Int(sqlite3_value_bytes(values[index]))
            return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
        }

        /// Returns the value of an argument.
        func value(_ index: Int) -> DatabaseValue {
            switch kind(index) {
            case SQLITE_INTEGER: return integer(index).databaseValue
            case SQLITE_FLOAT: return double(index).databaseValue
            case SQLITE_TEXT:
                let start = sqlite3_value_text(values[index])
                let count = Int(sqlite3_value_bytes(values[index]))
                return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self).databaseValue
            case SQLITE_BLOB: return withBlob(index) { Data($0).databaseValue }
            default: return .null
            }
        }
    }

    // MARK: Registration

    /// Registers an aggregate that also supports windows.
    ///
    /// Registration fails only if memory is exhausted. A statement that calls the function then reports the error.
    static func register(
        _ name: String, _ count: Int32, in connection: OpaquePointer?, make: @escaping @Sendable () -> Accumulator
    ) {
        let factory = Unmanaged.passRetained(Factory(make))
        _ = sqlite3_create_window_function(
            connection, name, count, SQLITE_UTF8 | SQLITE_DETERMINISTIC, factory.toOpaque(),
            { context, _, values in Accumulator.step(context, values) { try $0.add($1) } },
            { context in Accumulator.finish(context, isLast: true) },
            { context in Accumulator.finish(context, isLast: false) },
            { context, _, values in Accumulator.step(context, values) { try $0.remove($1) } },
            { pointer in if let pointer { Unmanaged<Factory>.fromOpaque(pointer).release() } })
    }

    /// The closure that creates an accumulator, which SQLite stores with the function.
    private final class Factory {
        let make: @Sendable () -> Accumulator
        init(_ make: @escaping @Sendable () -> Accumulator) { self.make = make }
    }

    /// Returns the accumulator of the current group, and creates one if `makesNew` is `true`.
    private static func current(_ context: OpaquePointer?, makesNew: Bool) -> Unmanaged<Accumulator>? {
        let size = Int32(makesNew ? MemoryLayout<UnsafeMutableRawPointer?>.size : 0)
        guard let memory = sqlite3_aggregate_context(context, size) else { return nil }
        let slot = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        if let known = slot.pointee { return Unmanaged<Accumulator>.fromOpaque(known) }
        guard makesNew, let factory = sqlite3_user_data(context) else { return nil }
        let made = Unmanaged.passRetained(Unmanaged<Factory>.fromOpaque(factory).takeUnretainedValue().make())
        slot.pointee = made.toOpaque()
        return made
    }

    private static func step(
        _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?,
        body: (Accumulator, Arguments) throws -> Void
    ) {
        guard let values, sqlite3_value_type(values[0]) != SQLITE_NULL else { return }
        guard let accumulator = current(context, makesNew: true) else { return sqlite3_result_error_nomem(context) }
        do {
            try body(accumulator.takeUnretainedValue(), Arguments(values: values))
        } catch {
            fail(context, error)
        }
    }

    private static func finish(_ context: OpaquePointer?, isLast: Bool) {
        guard let accumulator = current(context, makesNew: false) else { return sqlite3_result_null(context) }
        do {
            switch try accumulator.takeUnretainedValue().result().storage {
            case .null: sqlite3_result_null(context)
            case .int64(let number): sqlite3_result_int64(context, number)
            case .double(let number): sqlite3_result_double(context, number)
            case .string(let text): sqlite3_result_text(context, text, -1, transient)
            case .blob(let data):
                data.withUnsafeBytes {
                    // A zero-length BLOB needs an address; otherwise, SQLite treats it as NULL.
                    if let start = $0.baseAddress {
                        sqlite3_result_blob(context, start, Int32(clamping: $0.count), transient)
                    } else {
                        sqlite3_result_zeroblob(context, 0)
                    }
                }
            }
        } catch {
            fail(context, error)
        }
        if isLast, let memory = sqlite3_aggregate_context(context, 0) {
            memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self).pointee = nil
            accumulator.release()
        }
    }

    private static func fail(_ context: OpaquePointer?, _ error: any Error) {
        let message = StoreFunctions.message(of: error) ?? "\(error)"
        sqlite3_result_error(context, message, -1)
    }

    /// `SQLITE_TRANSIENT`, which makes SQLite copy the value.
    static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

import Foundation

/// A SQLite library that was loaded at run time: the system's, or SQLCipher's, which has functions of the same
/// names.
struct SQLiteLibrary: @unchecked Sendable {
    // Function pointers alone, which are never changed: that is why `@unchecked Sendable` is sound.
    typealias Open =
        @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>, Int32, OpaquePointer?)
        -> Int32
    typealias Execute =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, OpaquePointer?, OpaquePointer?, OpaquePointer?
        ) -> Int32
    typealias Prepare =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<OpaquePointer?>, OpaquePointer?
        ) -> Int32
    typealias BindText = @convention(c) (OpaquePointer?, Int32, UnsafePointer<CChar>, Int32, Int) -> Int32

    let open: Open
    let execute: Execute
    let prepare: Prepare
    let bindText: BindText
    let bindInteger: @convention(c) (OpaquePointer?, Int32, Int64) -> Int32
    let bindDouble: @convention(c) (OpaquePointer?, Int32, Double) -> Int32
    let integer: @convention(c) (OpaquePointer?, Int32) -> Int64
    let step: @convention(c) (OpaquePointer?) -> Int32
    let reset: @convention(c) (OpaquePointer?) -> Int32
    let finalize: @convention(c) (OpaquePointer?) -> Int32
    let close: @convention(c) (OpaquePointer?) -> Int32
    let message: @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?

    /// - Parameter path: A path or name for the system's loader.
    init(path: String) throws(Failure) {
        // Its functions must not be taken for those of the library that is there already.
        guard let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL) else { throw Failure("no library \(path)") }
        func function<T>(_ name: String, as type: T.Type) throws(Failure) -> T {
            guard let address = dlsym(handle, "sqlite3_" + name) else { throw Failure("no sqlite3_\(name) in \(path)") }
            return unsafeBitCast(address, to: type)
        }
        open = try function("open_v2", as: Open.self)
        execute = try function("exec", as: Execute.self)
        prepare = try function("prepare_v2", as: Prepare.self)
        bindText = try function("bind_text", as: BindText.self)
        bindInteger = try function("bind_int64", as: (@convention(c) (OpaquePointer?, Int32, Int64) -> Int32).self)
        bindDouble = try function("bind_double", as: (@convention(c) (OpaquePointer?, Int32, Double) -> Int32).self)
        integer = try function("column_int64", as: (@convention(c) (OpaquePointer?, Int32) -> Int64).self)
        step = try function("step", as: (@convention(c) (OpaquePointer?) -> Int32).self)
        reset = try function("reset", as: (@convention(c) (OpaquePointer?) -> Int32).self)
        finalize = try function("finalize", as: (@convention(c) (OpaquePointer?) -> Int32).self)
        close = try function("close_v2", as: (@convention(c) (OpaquePointer?) -> Int32).self)
        message = try function("errmsg", as: (@convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?).self)
    }
}

/// The error that ended a measurement.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

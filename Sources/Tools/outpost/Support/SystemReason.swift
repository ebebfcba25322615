import Foundation
import ToolLanguage

extension Outpost {
    /// Returns the reason of a failed call of the system in the language of the person.
    ///
    /// - Parameter code: the value of `errno`.
    static func systemReason(_ code: Int32) -> String { Language.current.text(String(cString: strerror(code))) }
}

extension Error {
    /// The reason in the words of the system, such as `Permission denied`, without the names of classes,
    /// domains and codes.
    var systemReason: String {
        var error = self as NSError
        while let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error { error = cause as NSError }
        guard error.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return Outpost.systemReason(Int32(truncatingIfNeeded: error.code))
    }
}

import Foundation

extension Error {
    /// The reason in the words of the system, such as `Permission denied`, without the names of classes,
    /// domains and codes.
    var systemReason: String {
        var error = self as NSError
        while let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error { error = cause as NSError }
        guard error.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return String(cString: strerror(Int32(truncatingIfNeeded: error.code)))
    }
}

import Foundation
import HTTPTypes

#if !canImport(Darwin)
    import FoundationNetworking
#endif

extension URLRequest {
    /// Adds header fields. All cookies are sent in one field (RFC 6265, 5.4), although the message has a field
    /// for each of them.
    mutating func add(_ fields: HTTPFields) {
        for field in fields where field.name != .cookie {
            addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        let cookies = fields[values: .cookie]
        if !cookies.isEmpty { setValue(cookies.joined(separator: "; "), forHTTPHeaderField: "Cookie") }
    }
}

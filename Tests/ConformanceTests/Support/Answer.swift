import Foundation
import HTTPTypes
import Testing

/// A response as it came over the socket.
struct Answer {
    let status: Int
    let fields: HTTPFields
    let bytes: [UInt8]

    /// The body as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The body as a JSON object.
    var json: [String: Any] {
        get throws {
            try #require(
                try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any], "\(status) \(text.prefix(500))")
        }
    }

    /// The rows of a collection.
    var rows: [[String: Any]] {
        get throws { try #require(try json["value"] as? [[String: Any]], "\(text.prefix(500))") }
    }

    /// The values of one property of the rows of a collection.
    func column<Value>(_ name: String, as type: Value.Type = Value.self) throws -> [Value] {
        try rows.compactMap { $0[name] as? Value }
    }

    /// The error object.
    var error: [String: Any] { get throws { try #require(try json["error"] as? [String: Any], "\(text.prefix(500))") } }

    /// A control information, in either spelling.
    func control(_ name: String) throws -> Any? { try json["@\(name)"] ?? json["@odata.\(name)"] }

    /// A header field.
    subscript(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
}

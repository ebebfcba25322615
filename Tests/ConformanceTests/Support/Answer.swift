import Foundation
import HTTPTypes
import Testing

/// A response with its complete body.
struct Answer {
    let status: Int
    let fields: HTTPFields
    let bytes: [UInt8]

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var json: [String: Any] {
        get throws {
            try #require(
                try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any], "\(status) \(text.prefix(500))")
        }
    }

    var rows: [[String: Any]] {
        get throws { try #require(try json["value"] as? [[String: Any]], "\(text.prefix(500))") }
    }

    /// Returns the values of one property in all rows of a collection.
    func column<Value>(_ name: String, as type: Value.Type = Value.self) throws -> [Value] {
        try rows.compactMap { $0[name] as? Value }
    }

    var error: [String: Any] { get throws { try #require(try json["error"] as? [String: Any], "\(text.prefix(500))") } }

    /// Returns control information in either spelling, with or without `odata.`.
    func control(_ name: String) throws -> Any? { try json["@\(name)"] ?? json["@odata.\(name)"] }

    subscript(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
}

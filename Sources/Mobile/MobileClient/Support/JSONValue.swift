import Foundation

/// A value in the body of a request.
enum JSONValue: Encodable, Sendable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    case null
    case list([JSONValue])
    case object([String: JSONValue])

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            try members.encode(to: encoder)
        case .list(let values):
            try values.encode(to: encoder)
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .flag(let flag): try container.encode(flag)
            default: try container.encodeNil()
            }
        }
    }

    /// Returns an object as JSON.
    static func bytes(_ members: [String: JSONValue]) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // An object of texts and numbers can always be encoded.
        return (try? encoder.encode(members)).map { Array($0) } ?? Array("{}".utf8)
    }
}

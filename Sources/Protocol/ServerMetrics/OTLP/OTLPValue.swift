import Tracing

/// An attribute in the JSON encoding of OTLP: `KeyValue`.
struct OTLPAttribute: Encodable, Equatable {
    var key: String
    var value: OTLPValue
}

/// A value in the JSON encoding of OTLP: `AnyValue`. Integers are texts, as in the JSON mapping of Protocol Buffers.
indirect enum OTLPValue: Encodable, Equatable {
    case string(String)
    case int(Int64)
    case double(Double)
    case bool(Bool)
    case array([OTLPValue])

    private enum CodingKeys: String, CodingKey {
        case stringValue, intValue, doubleValue, boolValue, arrayValue
    }

    private struct Values: Encodable {
        var values: [OTLPValue]
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .string(let value): try container.encode(value, forKey: .stringValue)
        case .int(let value): try container.encode(String(value), forKey: .intValue)
        case .double(let value): try container.encode(value, forKey: .doubleValue)
        case .bool(let value): try container.encode(value, forKey: .boolValue)
        case .array(let values): try container.encode(Values(values: values), forKey: .arrayValue)
        }
    }

    init(_ attribute: SpanAttribute) {
        switch attribute {
        case .int32(let value): self = .int(Int64(value))
        case .int64(let value): self = .int(value)
        case .int32Array(let values): self = .array(values.map { .int(Int64($0)) })
        case .int64Array(let values): self = .array(values.map { .int($0) })
        case .double(let value): self = .double(value)
        case .doubleArray(let values): self = .array(values.map { .double($0) })
        case .bool(let value): self = .bool(value)
        case .boolArray(let values): self = .array(values.map { .bool($0) })
        case .string(let value): self = .string(value)
        case .stringArray(let values): self = .array(values.map { .string($0) })
        case .stringConvertible(let value): self = .string("\(value)")
        case .stringConvertibleArray(let values): self = .array(values.map { .string("\($0)") })
        default: self = .string("\(attribute)")
        }
    }

    /// The text that a redaction reads.
    var text: String {
        switch self {
        case .string(let value): value
        case .int(let value): String(value)
        case .double(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .array(let values): values.map(\.text).joined(separator: ", ")
        }
    }
}

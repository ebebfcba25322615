import Foundation

/// The parts that requests for traces and metrics share (OTLP 1.x, JSON Protobuf encoding).
enum OTLPPayload {
    struct Resource: Encodable {
        var attributes: [OTLPAttribute]
    }

    struct Scope: Encodable {
        var name = "ServerMetrics"
    }

    /// Returns the bytes of a request. Numbers that JSON lacks are texts, as in the JSON mapping of Protocol Buffers.
    static func bytes(_ request: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return Array(try encoder.encode(request))
    }
}

/// The part of a collector's response that counts the rejected items.
struct OTLPResponse: Decodable {
    struct PartialSuccess: Decodable {
        /// A number as text or as number: the JSON mapping allows both.
        var rejected: Int64

        private enum CodingKeys: String, CodingKey {
            case rejectedSpans, rejectedDataPoints
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func number(_ key: CodingKeys) -> Int64? {
                if let text = try? container.decodeIfPresent(String.self, forKey: key) { return Int64(text) }
                return try? container.decodeIfPresent(Int64.self, forKey: key)
            }
            rejected = number(.rejectedSpans) ?? number(.rejectedDataPoints) ?? 0
        }
    }

    var partialSuccess: PartialSuccess?

    /// Returns the number of rejected items in a response; 0 if it names none.
    static func rejected(in bytes: [UInt8]) -> Int64 {
        (try? JSONDecoder().decode(OTLPResponse.self, from: Data(bytes)))?.partialSuccess?.rejected ?? 0
    }
}

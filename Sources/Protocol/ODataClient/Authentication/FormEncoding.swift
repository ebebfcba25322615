import Foundation

/// The format `application/x-www-form-urlencoded` (RFC 6749, B).
enum FormEncoding {
    static func encode(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }

    static func encode(_ pairs: [(String, String)]) -> String {
        pairs.map { "\(encode($0.0))=\(encode($0.1))" }.joined(separator: "&")
    }

    /// Returns the names and values of a query. Of a name that occurs more than once, the last value counts.
    static func decode(_ query: some StringProtocol) -> [String: String] {
        Dictionary(pairs(in: query)) { $1 }
    }

    /// Returns the names and values of a query in their order.
    static func pairs(in query: some StringProtocol) -> [(String, String)] {
        var result: [(String, String)] = []
        for pair in query.split(separator: "&") {
            let end = pair.firstIndex(of: "=") ?? pair.endIndex
            let value = end == pair.endIndex ? "" : String(pair[pair.index(after: end)...])
            func decoded(_ text: String) -> String {
                text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? text
            }
            result.append((decoded(String(pair[..<end])), decoded(value)))
        }
        return result
    }
}

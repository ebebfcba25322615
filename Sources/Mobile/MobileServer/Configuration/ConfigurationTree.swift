import Foundation

/// A value of a configuration as text: for the export as YAML and for canonical JSON.
indirect enum ConfigurationTree: Hashable, Sendable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    case list([ConfigurationTree])
    case map([String: ConfigurationTree])

    var isEmpty: Bool {
        switch self {
        case .list(let list): list.isEmpty
        case .map(let map): map.isEmpty
        default: false
        }
    }

    // MARK: JSON

    /// JSON with sorted keys and without white space.
    var json: String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .number(let number): "\(number)"
        case .flag(let flag): flag ? "true" : "false"
        case .list(let list): "[" + list.map(\.json).joined(separator: ",") + "]"
        case .map(let map):
            "{"
                + map.sorted { Self.isBefore($0.key, $1.key) }.map { "\(Self.quoted($0)):\($1.json)" }
                .joined(separator: ",") + "}"
        }
    }

    /// Compares by code points, as the canonical order of keys.
    private static func isBefore(_ left: String, _ right: String) -> Bool {
        left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
    }

    /// Returns a text in double quotation marks, which is a string of JSON and of YAML alike.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _
            where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0x2028
                || scalar.value == 0x2029 || scalar.value == 0xFEFF:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    // MARK: YAML

    /// YAML in block style.
    var yaml: String {
        var lines: [String] = []
        write(to: &lines, indentation: 0)
        return lines.map { $0 + "\n" }.joined()
    }

    private func write(to lines: inout [String], indentation: Int) {
        let space = String(repeating: " ", count: indentation)
        switch self {
        case .map(let map) where !map.isEmpty:
            for (key, value) in map.sorted(by: { Self.isBefore($0.key, $1.key) }) {
                if let inline = value.inline {
                    lines.append("\(space)\(Self.plain(key)): \(inline)")
                } else {
                    lines.append("\(space)\(Self.plain(key)):")
                    value.write(to: &lines, indentation: indentation + 2)
                }
            }
        case .list(let list) where !list.isEmpty:
            for value in list {
                if let inline = value.inline {
                    lines.append("\(space)- \(inline)")
                } else {
                    var inner: [String] = []
                    value.write(to: &inner, indentation: indentation + 2)
                    guard let first = inner.first else { continue }
                    lines.append("\(space)- \(first.drop { $0 == " " })")
                    lines += inner.dropFirst()
                }
            }
        default: lines.append(space + (inline ?? ""))
        }
    }

    /// The value in one line; `nil` if it needs several.
    private var inline: String? {
        switch self {
        case .text(let text): Self.plain(text)
        case .number(let number): "\(number)"
        case .flag(let flag): flag ? "true" : "false"
        case .list(let list): list.isEmpty ? "[]" : nil
        case .map(let map): map.isEmpty ? "{}" : nil
        }
    }

    /// Returns a text without quotation marks if it cannot be read as anything else.
    private static func plain(_ text: String) -> String {
        let isPlain =
            text.first?.isASCII == true && text.first?.isLetter == true
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
                    UInt8(ascii: "/"):
                    true
                default: false
                }
            }
        let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        return isPlain && !words.contains(text.lowercased()) ? text : quoted(text)
    }
}

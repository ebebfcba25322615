import Foundation
import Yams

/// The conversion between a value of the configuration and its text.
struct ConfigurationCodec<Value: Hashable> {
    /// Reads a value, or notes a mistake and returns `nil`.
    let read: (Node, String, ConfigurationReader) -> Value?
    /// Writes a value; `nil` leaves the key out.
    let write: (Value) -> ConfigurationTree?
}

extension ConfigurationCodec where Value == String {
    /// Any text; the empty one turns something off.
    static var text: Self { .init(read: { $2.text($0, $1) }, write: { .text($0) }) }

    /// One of several words.
    static func word(_ words: [String]) -> Self {
        .init(
            read: { node, name, reader in
                guard let text = reader.text(node, name) else { return nil }
                guard words.contains(text) else {
                    reader.note(node, "\(name) is one of \(words.joined(separator: ", ")).")
                    return nil
                }
                return text
            }, write: { .text($0) })
    }

    /// A URL with one of these schemes.
    static func url(_ schemes: [String]) -> Self {
        .init(
            read: { node, name, reader in
                guard let text = reader.text(node, name) else { return nil }
                let scheme = text.prefix { $0 != ":" }.lowercased()
                guard schemes.contains(scheme), URL(string: text)?.host?.isEmpty == false else {
                    reader.note(node, "\(name) is a URL that begins with \(schemes.joined(separator: ":// or "))://.")
                    return nil
                }
                return text
            }, write: { .text($0) })
    }

    /// The address of a listener.
    static var listener: Self {
        .init(
            read: { node, name, reader in
                guard let scalar = node.scalar else {
                    reader.note(node, "\(name) is HOST:PORT, or empty for no listener.")
                    return nil
                }
                let text = reader.isNull(node) ? "" : scalar.string
                guard text.isEmpty || ListenAddress(text) != nil else {
                    reader.note(node, "\(name) is HOST:PORT with a port from 0 to 65535, or empty for no listener.")
                    return nil
                }
                return text
            }, write: { .text($0) })
    }

    /// A path that begins with a slash.
    static var path: Self {
        .init(
            read: { node, name, reader in
                guard let text = reader.text(node, name) else { return nil }
                guard text.hasPrefix("/"), !text.contains("?"), !text.contains("#"), !text.contains("//") else {
                    reader.note(node, "\(name) is a path that begins with a slash.")
                    return nil
                }
                return text
            }, write: { .text($0) })
    }
}

extension ConfigurationCodec where Value == Bool {
    /// `true` or `false`.
    static var flag: Self {
        .init(
            read: { node, name, reader in
                switch node.scalar?.string {
                case "true": return true
                case "false": return false
                default:
                    reader.note(node, "\(name) is true or false.")
                    return nil
                }
            }, write: { .flag($0) })
    }
}

extension ConfigurationCodec where Value == Int {
    /// A number in a range.
    static func number(_ range: ClosedRange<Int> = 0...1_000_000_000) -> Self {
        .init(
            read: { node, name, reader in
                guard let number = (node.scalar?.string).flatMap({ Int($0) }), range.contains(number) else {
                    reader.note(node, "\(name) is a number from \(range.lowerBound) to \(range.upperBound).")
                    return nil
                }
                return number
            }, write: { .number(Int64($0)) })
    }

    /// A number of days, also with the unit `d`.
    static var days: Self {
        .init(
            read: { node, name, reader in
                let text = node.scalar?.string ?? ""
                guard let number = Int(text.hasSuffix("d") ? text.dropLast() : text[...]), (0...36_500).contains(number)
                else {
                    reader.note(node, "\(name) is a number of days from 0 to 36500.")
                    return nil
                }
                return number
            }, write: { .number(Int64($0)) })
    }
}

extension ConfigurationCodec where Value == Int64 {
    private static var units: [(String, Int64)] {
        [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("KB", 1000), ("MB", 1_000_000), ("B", 1)]
    }

    /// A number of bytes, also with a unit such as `MiB`.
    static var bytes: Self {
        .init(
            read: { node, name, reader in
                var text = node.scalar?.string ?? ""
                var factor: Int64 = 1
                if let unit = units.first(where: { text.hasSuffix($0.0) }) {
                    factor = unit.1
                    text = String(text.dropLast(unit.0.count).filter { $0 != " " })
                }
                guard let number = Int64(text), (0...(1 << 40)).contains(number),
                    case let product = number.multipliedReportingOverflow(by: factor), !product.overflow,
                    product.partialValue <= 1 << 40
                else {
                    reader.note(node, "\(name) is a size such as 32MiB, at most 1024GiB.")
                    return nil
                }
                return product.partialValue
            },
            write: { bytes in
                let unit = units.prefix(3).reversed().first { bytes > 0 && bytes % $0.1 == 0 }
                return unit.map { .text("\(bytes / $0.1)\($0.0)") } ?? .number(bytes)
            })
    }
}

extension ConfigurationCodec where Value == Duration {
    private static var units: [(String, Int64)] { [("min", 60), ("s", 1), ("h", 3600), ("d", 86_400)] }

    /// A duration such as `30s`, `15min`, `8h`, `1d`. A number without a unit counts in the given one.
    static func duration(_ unit: String) -> Self {
        .init(
            read: { node, name, reader in
                let text = node.scalar?.string ?? ""
                let known = units.first { text.hasSuffix($0.0) } ?? ("", units.first { $0.0 == unit }?.1 ?? 1)
                let digits = text.dropLast(known.0.count).filter { $0 != " " }
                guard let number = Int64(digits), number >= 0, number <= 3_153_600_000 / known.1 else {
                    reader.note(node, "\(name) is a duration such as 30s, 15min, 8h or 1d.")
                    return nil
                }
                return .seconds(number * known.1)
            },
            write: { duration in
                let seconds = duration.components.seconds
                let unit = units.filter { seconds % $0.1 == 0 }.max { $0.1 < $1.1 } ?? ("s", 1)
                return .text(seconds == 0 ? "0s" : "\(seconds / unit.1)\(unit.0)")
            })
    }
}

extension ConfigurationCodec where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the words of an enumeration.
    static var choice: Self {
        .init(
            read: { node, name, reader in
                guard let text = node.scalar?.string, let value = Value(rawValue: text) else {
                    let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
                    reader.note(node, "\(name) is one of \(words).")
                    return nil
                }
                return value
            }, write: { .text($0.rawValue) })
    }
}

extension ConfigurationCodec where Value == SecretReference {
    /// A reference to a secret.
    static var secret: Self {
        .init(
            read: { node, name, reader in
                guard let reference = (node.scalar?.string).flatMap({ SecretReference($0) }) else {
                    reader.note(
                        node, "\(name) is a reference: file:PATH, env:NAME or secret:NAME. A secret never stands here.")
                    return nil
                }
                return reference
            }, write: { .text($0.description) })
    }
}

extension ConfigurationCodec {
    /// The value, or nothing.
    static func optional<Wrapped>(
        _ codec: ConfigurationCodec<Wrapped>
    ) -> ConfigurationCodec<Wrapped?> where Value == Wrapped? {
        .init(
            read: { node, name, reader in
                if reader.isNull(node) { return .some(nil) }
                return codec.read(node, name, reader).map { .some($0) }
            }, write: { $0.flatMap(codec.write) })
    }

    /// A list of values; one value alone is a list of it.
    static func list<Element>(
        _ codec: ConfigurationCodec<Element>
    ) -> ConfigurationCodec<[Element]> where Value == [Element] {
        .init(
            read: { node, name, reader in
                if reader.isNull(node) { return [] }
                guard let sequence = node.sequence else { return codec.read(node, name, reader).map { [$0] } }
                return sequence.compactMap { codec.read($0, "A value of \(name)", reader) }
            }, write: { .list($0.compactMap(codec.write)) })
    }

    /// Values by name.
    static func map<Element>(
        _ codec: ConfigurationCodec<Element>, isName: @escaping (String) -> String? = { _ in nil }
    ) -> ConfigurationCodec<[String: Element]> where Value == [String: Element] {
        .init(
            read: { node, name, reader in
                var values: [String: Element] = [:]
                for (key, place, value) in reader.entries(of: node, named: name) {
                    if let objection = isName(key) {
                        reader.note(place, "'\(key)' is no name in \(name): \(objection)")
                    }
                    if let element = codec.read(value, "\(name).\(key)", reader) { values[key] = element }
                }
                return values
            }, write: { .map($0.compactMapValues(codec.write)) })
    }
}

/// The address of a listener: `HOST:PORT`, with an address of IPv6 in brackets.
public struct ListenAddress: Hashable, Sendable {
    /// The host name or address.
    public var host: String
    /// The port; 0 takes a free one.
    public var port: Int

    /// Reads an address; `nil` for another text.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, !host.contains("/"), !host.contains(" ") else { return nil }
        self.host = String(host)
        self.port = Int(port)
    }

    /// Whether only programs of this machine reach the address.
    public var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}

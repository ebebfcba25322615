import Foundation
import ODataModel
import ODataQuery
import ODataService

@testable import ODataQuery
@testable import ODataSQL

/// A response as a JSON tree. Numbers of the evaluator keep their type, which determines whether the last digits
/// may differ.
indirect enum Answer: Equatable {
    case null, bool(Bool), text(String), exact(ODataDecimal), floating(Double), number(String)
    case array([Answer])
    case object([String: Answer])

    /// Returns whether another response, parsed from JSON, is equal.
    func agrees(_ other: Answer) -> Bool {
        switch (self, other) {
        case (.null, .null): return true
        case (.bool(let a), .bool(let b)): return a == b
        case (.text(let a), .text(let b)):
            if a.utf8.elementsEqual(b.utf8) { return true }
            // If instants in a group have several offsets, the offset of the result is unspecified.
            guard let first = ODataDateTimeOffset(a), let second = ODataDateTimeOffset(b) else { return false }
            return first.seconds == second.seconds && first.picoseconds == second.picoseconds
        case (.exact(let a), .number(let text)):
            guard let b = ODataDecimal(text) else { return false }
            return a.normalized == b.normalized
        case (.number(let a), .number(let b)): return Double(a) == Double(b)
        case (.floating(let a), .number(let text)):
            guard let b = Double(text) else { return false }
            return a == b || abs(a - b) <= 4 * max(a.ulp, b.ulp)
        case (.floating(let a), .text(let text)):
            return a.isNaN ? text == "NaN" : a.isInfinite && text == (a < 0 ? "-INF" : "INF")
        case (.array(let a), .array(let b)): return a.count == b.count && zip(a, b).allSatisfy { $0.agrees($1) }
        case (.object(let a), .object(let b)):
            return a.count == b.count && a.allSatisfy { name, value in b[name].map { value.agrees($0) } ?? false }
        default: return false
        }
    }

    /// Returns whether two lists have the same members in any order.
    static func agree(_ left: [Answer], unordered right: [Answer]) -> Bool {
        var rest = right
        for member in left {
            guard let index = rest.firstIndex(where: { member.agrees($0) }) else { return false }
            rest.remove(at: index)
        }
        return rest.isEmpty
    }

    // MARK: From JSON

    init(json: [UInt8]) throws {
        self = try JSONScanner.scan(json) { (scanner) throws -> Answer in try Answer(&scanner, json) }
    }

    private init(_ scanner: inout JSONScanner, _ bytes: [UInt8]) throws {
        switch try scanner.peekKind() {
        case .null:
            try scanner.readNull()
            self = .null
        case .boolean: self = .bool(try scanner.readBoolean())
        case .string: self = .text(try scanner.readString())
        case .number: self = .number(String(decoding: bytes[try scanner.skipValue()], as: UTF8.self))
        case .array:
            var members: [Answer] = []
            try scanner.beginArray()
            while try scanner.nextElement() { members.append(try Answer(&scanner, bytes)) }
            self = .array(members)
        case .object:
            var members: [String: Answer] = [:]
            try scanner.beginObject()
            while let key = try scanner.nextKey() { members[key.string] = try Answer(&scanner, bytes) }
            self = .object(members)
        }
    }

    // MARK: From the evaluator

    init(_ value: ODataValue) {
        switch value {
        case .null: self = .null
        case .boolean(let flag): self = .bool(flag)
        case .integer(let number): self = .exact(ODataDecimal(number))
        case .enumeration(let number):
            let members = Sample.kinds.enumerated().filter { number & (1 << $0.offset) != 0 }.map(\.element)
            self = .text(members.joined(separator: ","))
        case .geo: self = (try? Answer(json: Array((StoredJSON.encode(value) ?? "").utf8))) ?? .text("?")
        case .decimal(let number): self = .exact(number)
        // JSON contains the shortest digits of the binary32 value, which read as a different binary64 value.
        case .single(let number): self = .floating(Double("\(number)") ?? Double(number))
        case .double(let number): self = .floating(number)
        case .collection(let members): self = .array(members.map { Answer($0) })
        case .complex(let entity):
            var members: [String: Answer] = [:]
            for (property, value) in zip(entity.shape.properties, entity.values) {
                if let value { members[property.name] = Answer(value) }
            }
            self = .object(members)
        default: self = .text(value.lexicalText ?? "?")
        }
    }

    init(_ row: EvaluatedRow) {
        var members: [String: Answer] = [:]
        for property in row.properties {
            Self.put(
                Answer(property.value), at: property.name.split(separator: "/").map(String.init)[...], in: &members)
        }
        for (name, page) in row.expanded.sorted(by: { $0.key < $1.key }) {
            let path = name.split(separator: "/").map(String.init)[...]
            // A complex value that is null has no related entities.
            if path.count > 1, members[path[0]] == .null { continue }
            if let count = page.count { members["\(name)@count"] = .exact(ODataDecimal(Int64(count))) }
            if page.form == .count { continue }
            let rows = page.rows.map { Answer($0) }
            // The generator uses names starting with J for `join`, which returns one row.
            let isSingle =
                name.hasPrefix("J") || ["Next", "A", "Place/Top"].contains { $0 == name || name.hasSuffix("/\($0)") }
            Self.put(isSingle ? rows.first ?? .null : .array(rows), at: path, in: &members)
        }
        self = .object(members)
    }

    private static func put(_ value: Answer, at path: ArraySlice<String>, in members: inout [String: Answer]) {
        guard let first = path.first else { return }
        guard path.count > 1 else {
            members[first] = value
            return
        }
        var inner: [String: Answer] = [:]
        if case .object(let known)? = members[first] { inner = known }
        put(value, at: path.dropFirst(), in: &inner)
        members[first] = .object(inner)
    }
}

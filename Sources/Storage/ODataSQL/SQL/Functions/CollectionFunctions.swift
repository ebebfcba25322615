import Foundation
import GRDB
import ODataModel
import ODataQuery

/// The canonical functions on collections in their stored JSON form (OData URL Conventions 4.01, 5.1.1.5 and
/// 5.1.1.6). The last argument is the type of the members, which determines their equality.
enum CollectionFunctions {
    /// The bytes of a text that is identical for equal members. Texts with different code points are not equal.
    private typealias Member = [UInt8]

    static let all: [DatabaseFunction] = [
        compare("members_equal") { $0 == $1 },
        compare("members_hassubset") { members, subset in
            var left: [Member: Int] = [:]
            for member in members { left[member, default: 0] += 1 }
            for member in subset {
                guard let count = left[member], count > 0 else { return false }
                left[member] = count - 1
            }
            return true
        },
        compare("members_hassubsequence") { members, sequence in
            var rest = sequence[...]
            for member in members where member == rest.first { rest = rest.dropFirst() }
            return rest.isEmpty
        },
        compare("members_contains") { offset(of: $1, in: $0) != nil },
        compare("members_startswith") { $0.starts(with: $1) },
        compare("members_endswith") { $0.count >= $1.count && $0.suffix($1.count).elementsEqual($1) },
        compare("members_indexof") { Int64(offset(of: $1, in: $0) ?? -1) },
        StoreFunctions.function("members_length", 1) { try texts($0[0]).count },
        StoreFunctions.function("members_concat", 2) {
            let members = try texts($0[0]) + texts($0[1])
            guard members.reduce(0, { $0 + $1.utf8.count + 1 }) <= TextOperations.maxLength else {
                throw EvaluationError.limit("TextOperations.maxLength")
            }
            return "[\(members.joined(separator: ","))]"
        },
        StoreFunctions.function("members_substring", 2) { try part($0[0], from: $0.integer(1), length: nil) },
        StoreFunctions.function("members_substring", 3) { try part($0[0], from: $0.integer(1), length: $0.integer(2)) },
    ]

    private static func compare(
        _ name: String, _ body: @escaping @Sendable ([Member], [Member]) -> any DatabaseValueConvertible
    ) -> DatabaseFunction {
        StoreFunctions.function(name, 3) { arguments in
            let type = PrimitiveType(rawValue: try arguments.text(2))
            return body(
                try texts(arguments[0]).map { Member(canonical($0, type).utf8) },
                try texts(arguments[1]).map { Member(canonical($0, type).utf8) })
        }
    }

    private static func offset(of part: [Member], in members: [Member]) -> Int? {
        if part.isEmpty { return 0 }
        guard part.count <= members.count else { return nil }
        return (0...(members.count - part.count)).first { members[$0..<($0 + part.count)].elementsEqual(part) }
    }

    private static func part(_ json: DatabaseValue, from start: Int64, length: Int64?) throws -> String {
        let members = try texts(json)
        let count = Int64(members.count)
        let first = start < 0 ? max(0, count + max(start, -count)) : min(start, count)
        let taken = min(max(length ?? count, 0), count - first)
        return "[\(members.dropFirst(Int(first)).prefix(Int(taken)).joined(separator: ","))]"
    }

    /// Returns the JSON texts of an array's members.
    private static func texts(_ json: DatabaseValue) throws -> [String] {
        let bytes = Array(try [json].text(0).utf8)
        do {
            return try JSONScanner.scan(bytes) { (scanner) throws -> [String] in
                var members: [String] = []
                try scanner.beginArray()
                while try scanner.nextElement() {
                    members.append(String(decoding: bytes[try scanner.skipValue()], as: UTF8.self))
                }
                return members
            }
        } catch {
            throw FunctionError.argument("a collection")
        }
    }

    /// Returns a text that is identical for equal members.
    private static func canonical(_ text: String, _ type: PrimitiveType?) -> String {
        guard text != "null", let type else { return text }
        let plain = (try? JSONScanner.scan(Array(text.utf8)) { try $0.readString() }) ?? text
        switch type {
        case .string: return plain
        case .decimal, .byte, .sbyte, .int16, .int32, .int64:
            return ODataDecimal(plain).map { "\($0.normalized)" } ?? plain
        case .double, .single: return Double(plain).map { "\($0)" } ?? plain
        case .dateTimeOffset:
            return ODataDateTimeOffset(plain).map { "\($0.seconds).\($0.picoseconds)" } ?? plain
        case .guid: return plain.lowercased()
        case .duration: return ODataDuration(plain).map { "\($0)" } ?? plain
        case .timeOfDay: return ODataTimeOfDay(plain).map { "\($0)" } ?? plain
        default: return plain
        }
    }
}

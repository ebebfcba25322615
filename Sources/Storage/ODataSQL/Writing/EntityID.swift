import Foundation
import ODataModel
import ODataService

/// The id of an entity relative to the service root, such as `Orders(1)` or `Items(Order=1,Name='a%2Fb')` (OData
/// URL Conventions 4.01, 4.3.1 *Canonical URL*).
public enum EntityID {
    /// Returns the canonical id of an entity.
    ///
    /// - Parameters:
    ///   - set: the name of the entity set, or the path of a contained collection.
    ///   - key: the key; ignored for a singleton, whose id is its name.
    ///   - shape: the type, which determines the form of enumeration keys.
    ///   - model: the model with the enumeration types.
    public static func canonical(set: String, key: EntityKey?, shape: TypeShape, model: EntityDataModel) -> String {
        guard let key, !key.parts.isEmpty, model.singleton(set) == nil else { return set }
        if key.parts.count == 1, case .integer(let number) = key.parts[0].value { return "\(set)(\(number))" }
        let parts = key.parts.map { part -> (String, String) in
            let path = shape.key.first { $0.name == part.name }?.path ?? part.name
            return (part.name, literal(part.value, type: shape.property(path)?.type, model: model))
        }
        let predicate =
            parts.count == 1 ? parts[0].1 : parts.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
        return "\(set)(\(predicate))"
    }

    /// Returns the percent-encoded key value for a URL.
    private static func literal(_ value: ODataValue, type: TypeReference?, model: EntityDataModel) -> String {
        switch value {
        case .string(let text): "'" + encoded(text.doubling(UInt8(ascii: "'"))) + "'"
        case .binary: "binary'" + encoded(value.lexicalText ?? "") + "'"
        case .duration: "duration'" + encoded(value.lexicalText ?? "") + "'"
        case .enumeration(let number): enumeration(number, type: type, model: model)
        default: encoded(value.lexicalText ?? "null")
        }
    }

    private static func enumeration(_ number: Int64, type: TypeReference?, model: EntityDataModel) -> String {
        guard case .enumeration(let name)? = type, let declared = model.enumType(name) else { return "\(number)" }
        return "\(name)'\(encoded(declared.text(of: number)))'"
    }

    /// Returns a text with all characters percent-encoded, except those that RFC 3986 calls unreserved. Other
    /// characters could be part of the URL's syntax. This runs for every entity that is read.
    private static func encoded(_ text: String) -> String {
        if text.utf8.allSatisfy(isUnreserved) { return text }
        var result = ""
        for byte in text.utf8 {
            if isUnreserved(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Parses the relative or absolute id of an entity in an entity set or of a singleton; only the last segment is
    /// relevant.
    ///
    /// - Throws: ``ODataError`` with status 400 if the text is not an entity id of this service.
    public static func parse(_ text: String, model: EntityDataModel) throws -> (set: String, key: EntityKey?) {
        func refuse(_ reason: String) -> ODataError {
            ODataError(
                status: 400, code: "InvalidReference",
                message: "\"\(text)\" is no reference to an entity: \(reason).")
        }
        let segment = lastSegment(of: text)
        guard let open = segment.firstIndex(of: "(") else {
            guard model.singleton(segment) != nil else { throw refuse("a key in parentheses was expected") }
            return (segment, nil)
        }
        let name = String(segment[..<open])
        guard let set = model.entitySet(name), let shape = model.shape(set.type) else {
            throw refuse("there is no entity set \(name)")
        }
        guard segment.hasSuffix(")") else { throw refuse("a closing parenthesis was expected at its end") }
        let inner = segment[segment.index(after: open)...].dropLast()
        let arguments = split(inner, at: ",")
        guard arguments.count == shape.key.count else {
            throw refuse("\(shape.key.count) key values were expected")
        }
        var parts: [EntityKey.Part] = []
        for (position, property) in shape.key.enumerated() {
            var text = arguments[position]
            if let named = arguments.first(where: { $0.hasPrefix("\(property.name)=") }) {
                text = String(named.dropFirst(property.name.count + 1))
            } else if arguments.count > 1 {
                throw refuse("the key value \(property.name) was expected")
            }
            guard let type = shape.property(property.path)?.type, let value = value(text, type: type, model: model)
            else { throw refuse("\(text) is no value of \(property.name)") }
            parts.append(.init(name: property.name, value: value))
        }
        return (set.name, EntityKey(parts))
    }

    private static func lastSegment(of text: String) -> String {
        let decoded = text.removingPercentEncoding ?? text
        return split(decoded[...], at: "/").last { !$0.isEmpty } ?? decoded
    }

    /// Splits a text at separators outside of single quotes.
    private static func split(_ text: Substring, at separator: Unicode.Scalar) -> [String] {
        var parts = [""]
        var isQuoted = false
        for scalar in text.unicodeScalars {
            if scalar == "'" { isQuoted.toggle() }
            if scalar == separator, !isQuoted {
                parts.append("")
            } else {
                parts[parts.count - 1].unicodeScalars.append(scalar)
            }
        }
        return parts
    }

    private static func value(_ text: String, type: TypeReference, model: EntityDataModel) -> ODataValue? {
        var text = text
        // Literals of strings, enumerations, durations and most types of V2 have quotes after a prefix.
        let quote = UInt8(ascii: "'")
        let quoted = text.utf8.drop { $0 != quote }
        if quoted.count > 1, quoted.last == quote {
            text = String(Substring(quoted.dropFirst().dropLast())).undoubling(quote)
        } else if type.primitive == .string {
            return nil
        } else if let last = text.last, "LlMmDdFf".contains(last), type.primitive?.isNumeric == true {
            text.removeLast()
        }
        if case .enumeration(let name) = type, let declared = model.enumType(name) {
            return declared.value(of: text).map { .enumeration($0) }
        }
        guard let primitive = type.primitive else { return nil }
        return try? ODataValue(lexical: text, type: primitive)
    }
}

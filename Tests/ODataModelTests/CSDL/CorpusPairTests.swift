import Foundation
import TestCorpus
import Testing

@testable import ODataModel

/// A CSDL JSON document in canonical form, so that equivalent documents compare equal.
///
/// Full names replace aliases, annotations with external targeting are moved to their targets, and numbers are
/// compared by value.
struct CanonicalCSDL {
    private(set) var root: [String: Any]
    private var namespaces: [String: String] = [:]

    init(_ bytes: [UInt8]) throws {
        root = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        for case let reference as [String: Any] in (root["$Reference"] as? [String: Any] ?? [:]).values {
            for include in reference["$Include"] as? [[String: Any]] ?? [] {
                if let alias = include["$Alias"] as? String { namespaces[alias] = include["$Namespace"] as? String }
            }
        }
        for (name, schema) in root {
            if let alias = (schema as? [String: Any])?["$Alias"] as? String { namespaces[alias] = name }
        }
        root = try #require(expand(root) as? [String: Any])
        for (name, value) in root where !name.hasPrefix("$") {
            guard let targets = (value as? [String: Any])?["$Annotations"] as? [String: Any] else { continue }
            var rest = targets
            for (target, annotations) in targets {
                guard let annotations = annotations as? [String: Any] else { continue }
                if move(annotations, to: target) { rest[target] = nil }
            }
            var schema = try #require(root[name] as? [String: Any])
            schema["$Annotations"] = rest.isEmpty ? nil : rest
            root[name] = schema
        }
    }

    /// Expands aliases, which may occur in keys and values.
    private func expand(_ value: Any) -> Any {
        switch value {
        case let object as [String: Any]:
            var object = object
            // `Edm.Int32` is the default.
            if object["$Kind"] as? String == "EnumType", object["$UnderlyingType"] as? String == "Edm.Int32" {
                object["$UnderlyingType"] = nil
            }
            return Dictionary(
                object.map {
                    (expand($0.key), $0.key == "$Alias" || $0.key == "$Namespace" ? $0.value : expand($0.value))
                },
                uniquingKeysWith: { first, _ in first })
        case let array as [Any]: return array.map(expand)
        case let text as String:
            // An XML parser replaces line breaks in attributes by blanks.
            return expand(text.replacing("\r\n", with: " ").replacing("\r", with: " ").replacing("\n", with: " "))
        default: return value
        }
    }

    private func expand(_ text: String) -> String {
        guard !text.contains(" "), text.contains(".") else { return text }
        var result = ""
        var word = ""
        func replaced(_ word: String) -> String {
            guard let dot = word.lastIndex(of: "."), let namespace = namespaces[String(word[..<dot])] else {
                return word
            }
            return namespace + word[dot...]
        }
        for character in text {
            if "/@#(),".contains(character) {
                result += replaced(word) + String(character)
                word = ""
            } else {
                word.append(character)
            }
        }
        return result + replaced(word)
    }

    private mutating func move(_ annotations: [String: Any], to target: String) -> Bool {
        var segments = target.split(separator: "/").map(String.init)
        guard let first = segments.first, !first.contains("("), let dot = first.lastIndex(of: ".") else { return false }
        segments.replaceSubrange(0..<1, with: [String(first[..<dot]), String(first[first.index(after: dot)...])])
        guard segments.count <= 3 else { return false }
        func insert(_ value: Any?, _ path: ArraySlice<String>) -> Any? {
            guard var object = value as? [String: Any] else { return nil }
            guard let name = path.first else {
                object.merge(annotations) { first, _ in first }
                return object
            }
            if object[name] is NSNumber, path.count == 1 {
                for (key, value) in annotations { object[name + key] = value }
                return object
            }
            guard let child = insert(object[name], path.dropFirst()) else { return nil }
            object[name] = child
            return object
        }
        guard let result = insert(root, segments[...]) as? [String: Any] else { return false }
        root = result
        return true
    }

    /// Returns the differences between two documents.
    static func differences(_ left: Any?, _ right: Any?, path: String = "") -> [String] {
        switch (left, right) {
        case (let left as [String: Any], let right as [String: Any]):
            return Set(left.keys).union(right.keys).sorted().flatMap {
                differences(left[$0], right[$0], path: "\(path)|\($0)")
            }
        case (let left as [Any], let right as [Any]) where left.count == right.count:
            return zip(left, right).enumerated().flatMap { index, pair in
                differences(pair.0, pair.1, path: "\(path)|\(index)")
            }
        case (let left?, let right?):
            // A number may be text if its type is unknown.
            let (leftText, rightText) = ("\(left)", "\(right)")
            if leftText == rightText { return [] }
            if let left = Double(leftText), let right = Double(rightText), left == right { return [] }
            return ["\(path): \(leftText.prefix(80)) <> \(rightText.prefix(80))"]
        case (nil, nil): return []
        default:
            return [
                "\(path): \(left.map { "\($0)".prefix(80) } ?? "nothing") <> \(right.map { "\($0)".prefix(80) } ?? "nothing")"
            ]
        }
    }
}

@Suite(
    "Corpus: the same model in XML and JSON",
    .enabled(if: Corpus.isPresent, "no corpus at ../shared/corpus or OUTPOST_CORPUS"))
struct CorpusPairTests {
    static let pairs: [String] = CorpusCSDLTests.xml.compactMap { path in
        let stem = String(path.dropLast(4))
        return CorpusCSDLTests.json.contains(stem + ".json") ? stem : nil
    }

    @Test("the document in XML becomes the one in JSON", arguments: pairs)
    func xmlToJSON(stem: String) throws {
        let model = try CSDLReader.read(try Corpus.bytes(stem + ".xml"))
        let ours = try CanonicalCSDL(CSDLWriter.json(model))
        let given = try CanonicalCSDL(try Corpus.bytes(stem + ".json"))
        // Each document links to the other with a different relation.
        let differences = CanonicalCSDL.differences(ours.root, given.root).filter {
            !$0.contains("|@Org.OData.Core.V1.Links|")
        }
        #expect(differences.isEmpty, "\(differences.prefix(20).joined(separator: "\n"))")
    }

    @Test("the document in JSON is read and written without loss", arguments: pairs)
    func jsonToJSON(stem: String) throws {
        let bytes = try Corpus.bytes(stem + ".json")
        let ours = try CanonicalCSDL(CSDLWriter.json(try CSDLReader.read(bytes)))
        let differences = CanonicalCSDL.differences(ours.root, try CanonicalCSDL(bytes).root)
        #expect(differences.isEmpty, "\(differences.prefix(20).joined(separator: "\n"))")
    }

    @Test("the document in JSON becomes XML that becomes it again", arguments: pairs)
    func jsonToXML(stem: String) throws {
        let bytes = try Corpus.bytes(stem + ".json")
        let model = try CSDLReader.read(bytes)
        let xml = CSDLWriter.xml(model, version: max(model.version, .v4))
        var again = try CanonicalCSDL(CSDLWriter.json(try CSDLReader.read(xml))).root
        var given = try CanonicalCSDL(bytes).root
        if model.version < .v4 {
            again["$Version"] = nil
            given["$Version"] = nil
        }
        // Before V4, a parameter with unstated nullability allows null; in V4, this is stated explicitly.
        let differences = CanonicalCSDL.differences(again, given).filter {
            model.version >= .v4 || !$0.contains("|$Parameter|") || !$0.contains("|$Nullable:")
        }
        #expect(differences.isEmpty, "\(differences.prefix(20).joined(separator: "\n"))")
    }

    @Test("the constants of the document in JSON are of the kinds that XML states", arguments: pairs)
    func constantKinds(stem: String) throws {
        let xml = Self.values(try CSDLReader.read(try Corpus.bytes(stem + ".xml")))
        let model = try CSDLReader.read(try Corpus.bytes(stem + ".json"))
        let json = Self.values(model)
        let declared = Set(model.schemas.flatMap(\.terms).map(\.name.description))
        for (place, value) in xml {
            // For undeclared terms, the kinds follow only from the JSON values.
            guard declared.contains(place.term) || place.term.hasPrefix("Org.OData."), let other = json[place],
                Self.texts(value) == Self.texts(other)
            else { continue }
            #expect(Self.kinds(value) == Self.kinds(other), "\(place)")
        }
    }

    private struct Place: Hashable {
        var path: String
        var term: String
        var qualifier: String?
    }

    private static func values(_ model: EntityDataModel) -> [Place: AnnotationExpression] {
        var result: [Place: AnnotationExpression] = [:]
        func collect(_ nodes: [ModelNode]) {
            for node in nodes {
                for annotation in node.annotations {
                    let place = Place(path: node.path, term: annotation.term, qualifier: annotation.qualifier)
                    result[place] = annotation.value
                }
                collect(node.children)
            }
        }
        collect(model.nodes)
        return result
    }

    private static func leaves(_ expression: AnnotationExpression) -> [(kind: String, text: String)] {
        switch expression {
        case .constant(let kind, let text): [(kind, text)]
        case .path(let kind, let text): [(kind, text)]
        case .collection(let items): items.flatMap(leaves)
        case .record(_, let properties): properties.flatMap { $0.value.map(leaves) ?? [] }
        case .dynamic(_, _, let operands): operands.flatMap(leaves)
        }
    }

    private static func texts(_ expression: AnnotationExpression) -> [String] {
        leaves(expression).map { $0.text.split(separator: "/").last.map(String.init) ?? "" }
    }

    /// Returns the kinds of constants. Terms such as `Validation.Minimum` allow any type, so that all numbers have
    /// one kind.
    private static func kinds(_ expression: AnnotationExpression) -> [String] {
        leaves(expression).map { ["Int", "Decimal", "Float"].contains($0.kind) ? "number" : $0.kind }
    }
}

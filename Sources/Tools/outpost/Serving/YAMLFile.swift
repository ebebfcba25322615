import Foundation
import ODataQuery
import ToolLanguage
import Yams

/// A YAML file of an operator. Its errors name line and column.
struct YAMLFile {
    let path: String
    /// The content; `nil` if the file holds nothing.
    let root: Node?

    /// The maximum number of bytes.
    static let sizeLimit = 1 << 20

    /// Reads a file.
    ///
    /// - Throws: ``Failure`` if others can change the file, or with the place at which it is no YAML.
    init(path: String) throws {
        self.path = path
        let bytes = try NamedFile.guarded(path, limit: Self.sizeLimit)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(message: "\(path) cannot be read as text.", status: .misused)
        }
        do {
            root = try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw Self.failure(error, path: path)
        }
    }

    private static func failure(_ error: YamlError, path: String) -> Failure {
        let (mark, problem): (Mark?, TerminalText) =
            switch error {
            case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
                .composer(_, let problem, let mark, _):
                (mark, TerminalText(problem))
            case .duplicatedKeysInMapping(let names, let context):
                (context.mark, "\(Self.key(names.sorted().first)) stands there twice")
            case .reader(let problem, _, _, _): (nil, TerminalText(problem))
            default: (nil, "it is no YAML")
            }
        return Failure(message: "\(place(mark, in: path)): \(problem).", status: .misused)
    }

    private static func key(_ name: String?) -> TerminalText { name.map { "the key \($0)" } ?? "a key" }

    private static func place(_ mark: Mark?, in path: String) -> String {
        mark.map { translated("\(path), line \($0.line), column \($0.column)") } ?? path
    }

    /// Returns an error at the place of a value.
    func failure(at node: Node, _ problem: TerminalText, advice: TerminalText? = nil) -> Failure {
        Failure(message: "\(Self.place(node.mark, in: path)): \(problem)", advice: advice, status: .misused)
    }

    // MARK: Values

    /// Returns the keys and values of a mapping.
    ///
    /// - Parameters:
    ///   - node: the mapping.
    ///   - known: the permitted keys; `nil` for any.
    ///   - what: the place in words, for errors.
    func entries(of node: Node, known: [String]?, in what: TerminalText) throws -> [(
        key: String, node: Node, value: Node
    )] {
        guard let mapping = node.mapping else {
            throw failure(at: node, "\(what) has keys and values, as in 'key: value'.")
        }
        return try mapping.map { key, value in
            guard let name = key.scalar?.string else { throw failure(at: key, "A key is a text.") }
            if let known, !known.contains(name) {
                let near = QueryError.suggestions(for: name, among: known)
                throw failure(
                    at: key, "\(what) has no key '\(name)'.",
                    advice: near.isEmpty
                        ? "The keys are \(known.joined(separator: ", "))."
                        : "Did you mean \(near.joined(separator: translated(" or ")))?")
            }
            return (name, key, value)
        }
    }

    /// Returns a text; a number or a word without quotes is a text as well.
    func text(_ node: Node, of name: String) throws -> String {
        guard let scalar = node.scalar, !isNull(node), !scalar.string.isEmpty else {
            throw failure(at: node, "\(name) is a text.")
        }
        return scalar.string
    }

    /// Returns the texts of a list, or the only one.
    func texts(_ node: Node, of name: String) throws -> [String] {
        guard let sequence = node.sequence else { return [try text(node, of: name)] }
        return try sequence.map { try text($0, of: name) }
    }

    func number(_ node: Node, of name: String, in range: ClosedRange<Int>) throws -> Int {
        guard let number = (node.scalar?.string).flatMap({ Int($0) }), range.contains(number) else {
            throw failure(at: node, "\(name) is a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    func flag(_ node: Node, of name: String) throws -> Bool {
        switch node.scalar?.string {
        case "true": return true
        case "false": return false
        default: throw failure(at: node, "\(name) is true or false.")
        }
    }

    private func isNull(_ node: Node) -> Bool {
        guard let scalar = node.scalar, scalar.style == .any || scalar.style == .plain else { return false }
        return ["", "~", "null"].contains(scalar.string)
    }
}

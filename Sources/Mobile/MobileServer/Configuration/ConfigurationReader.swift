import ODataQuery
import Yams

/// Reads a YAML file, and collects all mistakes with their places.
final class ConfigurationReader {
    let path: String
    private(set) var problems: [ConfigurationProblem] = []

    /// The maximum number of bytes of a file.
    static let sizeLimit = 1 << 20
    /// The maximum depth of nested values.
    static let depthLimit = 32

    init(path: String) { self.path = path }

    /// Returns the root of a file; `nil` if the file is empty or no YAML.
    func root(of text: String) -> Node? {
        guard text.utf8.count <= Self.sizeLimit else {
            note(nil, "The file exceeds \(Self.sizeLimit) bytes.")
            return nil
        }
        // Aliases would multiply the size of a file.
        do {
            let node = try Yams.compose(yaml: text)
            guard let node else { return nil }
            var count = 0
            guard isWithinLimits(node, depth: 0, &count) else { return nil }
            return node
        } catch let error as YamlError {
            note(error)
        } catch {
            note(nil, "The file is no YAML.")
        }
        return nil
    }

    private func isWithinLimits(_ node: Node, depth: Int, _ count: inout Int) -> Bool {
        count += 1
        guard depth <= Self.depthLimit, count <= 200_000 else {
            note(node, "The values are nested too deeply, or there are too many.")
            return false
        }
        switch node {
        case .scalar: return true
        case .mapping(let mapping):
            for (key, value) in mapping {
                guard isWithinLimits(key, depth: depth + 1, &count), isWithinLimits(value, depth: depth + 1, &count)
                else { return false }
            }
            return true
        case .sequence(let sequence):
            for value in sequence {
                guard isWithinLimits(value, depth: depth + 1, &count) else { return false }
            }
            return true
        case .alias:
            note(node, "An alias is not used in this file.")
            return false
        }
    }

    private func note(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            note(mark, "The file is no YAML: \(problem).")
        case .duplicatedKeysInMapping(let names, let context):
            note(context.mark, "The key '\(names.sorted().first ?? "")' stands there twice.")
        case .reader(let problem, _, _, _): note(nil, "The file is no YAML: \(problem).")
        default: note(nil, "The file is no YAML.")
        }
    }

    // MARK: Problems

    func note(_ node: Node, _ message: String, isWarning: Bool = false) {
        note(node.mark, message, isWarning: isWarning)
    }

    func note(_ mark: Mark?, _ message: String, isWarning: Bool = false) {
        problems.append(
            ConfigurationProblem(
                path: path, line: mark?.line ?? 0, column: mark?.column ?? 0, message: message, isWarning: isWarning))
    }

    /// The mistakes in the order of their places.
    var sorted: [ConfigurationProblem] { problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) } }

    // MARK: Values

    /// Returns the keys and values of a mapping. Text that is no mapping is a mistake; an empty value has no keys.
    func entries(of node: Node, named name: String) -> [(key: String, node: Node, value: Node)] {
        if isNull(node) { return [] }
        guard let mapping = node.mapping else {
            note(node, "\(name) has keys and values, as in 'key: value'.")
            return []
        }
        return mapping.compactMap { key, value in
            guard let text = key.scalar?.string, !text.isEmpty else {
                note(key, "A key of \(name) is no text.")
                return nil
            }
            return (text, key, value)
        }
    }

    /// Notes an unknown key with the nearest known one.
    func noteUnknown(_ key: String, _ node: Node, among known: [String], of name: String) {
        let near = QueryError.suggestions(for: key, among: known)
        let advice =
            near.isEmpty
            ? "The keys are \(known.joined(separator: ", "))." : "Did you mean \(near.joined(separator: " or "))?"
        note(node, "\(name) has no key '\(key)'. \(advice)")
    }

    func isNull(_ node: Node) -> Bool {
        guard let scalar = node.scalar, scalar.style == .any || scalar.style == .plain else { return false }
        return ["", "~", "null"].contains(scalar.string)
    }

    func text(_ node: Node, _ name: String) -> String? {
        guard let scalar = node.scalar, !isNull(node) else {
            note(node, "\(name) is a text.")
            return nil
        }
        return scalar.string
    }
}

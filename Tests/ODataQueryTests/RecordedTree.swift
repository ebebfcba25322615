import ODataModel

@testable import ODataQuery

/// Trees of query options that another parser recorded, in a notation that is also used for the parser's own trees.
///
/// Paths have slashes, operators and functions have their operands in parentheses, and `#` precedes values other
/// than strings. The structure of the lines follows from their indentation. An operator is between its operands,
/// which are indented further.
struct RecordedTree {
    /// The error for an unknown text in a file.
    struct Unknown: Error {
        var text: String
    }

    private var lines: [(indent: Int, text: String)] = []
    private var position = 0

    /// The options in the input, by name.
    private(set) var options: [(name: String, value: String)] = []
    /// The meaning of each option.
    private(set) var meanings: [String: String] = [:]

    init(_ file: String) throws {
        var isHead = true
        for line in file.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            let text = line.drop { $0 == "\t" }
            if isHead, text.hasPrefix("$"), let equals = text.range(of: " =") {
                let value = text[equals.upperBound...].drop { $0 == " " }
                if !value.isEmpty { options.append((String(text[..<equals.lowerBound]), String(value))) }
            } else if !text.isEmpty {
                isHead = false
                lines.append((line.count - text.count, String(text)))
            }
        }
        guard !options.isEmpty, let first = lines.first else { return }
        switch first.text {
        case "FilterQueryOption": meanings["$filter"] = try filter(0)
        case "OrderByClause": meanings["$orderby"] = try orderBy(0)
        case "SearchQueryOption": meanings["$search"] = try filter(0)
        case "SelectExpandQueryOption":
            let (select, expand) = try selectExpand(0)
            meanings["$select"] = select
            meanings["$expand"] = expand
        default: throw Unknown(text: first.text)
        }
        guard position == lines.count else { throw Unknown(text: lines[position].text) }
    }

    // MARK: Lines

    private func peek(_ indent: Int? = nil) -> String? {
        guard position < lines.count, indent == nil || lines[position].indent == indent else { return nil }
        return lines[position].text
    }

    private var indent: Int { position < lines.count ? lines[position].indent : -1 }

    private mutating func take() throws -> String {
        guard position < lines.count else { throw Unknown(text: "the end") }
        position += 1
        return lines[position - 1].text
    }

    /// Reads `Name = value` at an indentation; `nil` if there is none.
    private mutating func attribute(_ indent: Int) throws -> (name: String, value: String)? {
        guard let text = peek(indent), let equals = text.range(of: " ="), !text.contains("(Type: ") else { return nil }
        position += 1
        return (String(text[..<equals.lowerBound]), String(text[equals.upperBound...].drop { $0 == " " }))
    }

    private mutating func skip(below indent: Int) { while self.indent > indent { position += 1 } }

    // MARK: Options

    /// Reads a filter or a search.
    private mutating func filter(_ base: Int) throws -> String {
        _ = try take()
        var result = ""
        while let (name, _) = try attribute(base + 1) {
            switch name {
            case "Expression": result = try expression(base + 1)
            case "Parameter", "Range Variable": _ = try node(base + 1)
            default: continue
            }
        }
        return result
    }

    private mutating func orderBy(_ base: Int) throws -> String {
        _ = try take()
        var (result, direction, next) = ("", "", "")
        while let (name, value) = try attribute(base + 1) {
            switch name {
            case "Expression": result = try expression(base + 1)
            case "Direction": direction = value == "Descending" ? " desc" : ""
            case "Parameter", "Range Variable": _ = try node(base + 1)
            case "Then By": if peek(base + 1) == "OrderByClause" { next = "," + (try orderBy(base + 1)) }
            default: continue
            }
        }
        return result + direction + next
    }

    private mutating func selectExpand(_ base: Int) throws -> (select: String, expand: String) {
        _ = try take()
        _ = try attribute(base + 1)
        var (select, expand): ([String], [String]) = ([], [])
        guard let items = peek(base + 1), items.hasPrefix("SelectedItems") else { return ("", "") }
        position += 1
        while indent == base + 2 {
            let text = try take()
            if text == "(Wildcard)" {
                select.append("*")
            } else if text.hasPrefix("Path[") {
                select.append(Self.path(text))
            } else if text == "Expanded Navigation Property" {
                expand.append(try expanded(base + 3))
            } else {
                throw Unknown(text: text)
            }
        }
        return (select.sorted().joined(separator: ","), expand.sorted().joined(separator: ","))
    }

    private mutating func expanded(_ base: Int) throws -> String {
        let path = Self.path(try take())
        var options: [String] = []
        func add(_ name: String, _ value: String) { if !value.isEmpty { options.append("\(name)=\(value)") } }
        while indent == base {
            switch peek() {
            case "FilterQueryOption": add("$filter", try filter(base))
            case "OrderByClause": add("$orderby", try orderBy(base))
            case "SearchQueryOption": add("$search", try filter(base))
            case "SelectExpandQueryOption":
                let (select, expand) = try selectExpand(base)
                add("$select", select)
                add("$expand", expand)
            default: throw Unknown(text: peek() ?? "")
            }
        }
        return "\(path)(\(options.sorted().joined(separator: ";")))"
    }

    /// Returns the names of `Path[(Property: A)/(NavigationProperty: B)]`, without the namespaces of operations.
    private static func path(_ text: String) -> String {
        text.dropFirst("Path[".count).dropLast().split(separator: ")/(").map { segment in
            let parts = segment.split(separator: ": ", maxSplits: 1)
            let name = parts.last.map { $0.filter { !"()".contains($0) } } ?? ""
            // A selected name of a derived type may be an operation that the recorded model lacks.
            let isOperation = segment.contains("Operation") || segment.contains("OpenProperty")
            return isOperation ? name.split(separator: ".").last.map(String.init) ?? name : name
        }.joined(separator: "/")
    }

    // MARK: Expressions

    /// Reads an expression with its operator, or first line, at an indentation.
    private mutating func expression(_ base: Int) throws -> String {
        guard indent > base else { return try node(base) }
        let left = try expression(base + 1)
        guard indent == base else { throw Unknown(text: peek() ?? "the end") }
        let symbol = try take()
        return "\(symbol)(\(left),\(try expression(base + 1)))"
    }

    private mutating func node(_ base: Int) throws -> String {
        guard indent == base else { throw Unknown(text: peek() ?? "the end") }
        let head = try take()
        if head == "Not(" {
            let operand = try expression(base + 1)
            guard try take() == ")" else { throw Unknown(text: "Not(") }
            return "Not(\(operand))"
        }
        if let type = head.range(of: "(Type: ") {
            return Self.constant(String(head[..<type.lowerBound]), String(head[type.upperBound...]))
        }
        var values: [String: String] = [:]
        var arguments: [String] = []
        while let (name, value) = try attribute(base + 1) {
            switch name {
            case "Source" where value.isEmpty, "Body" where value.isEmpty, "Value" where value.isEmpty:
                values[name] = try expression(base + 1)
            case "Arguments": while indent >= base + 2 { arguments.append(try expression(base + 2)) }
            case "Parameters":
                // The variable of the lambda precedes those of the enclosing ones.
                while peek(base + 1)?.hasSuffix("RangeVariable") == true {
                    let variable = try node(base + 1)
                    values["Parameters"] = values["Parameters"] ?? variable
                }
            case "Range Variable" where value.isEmpty: _ = try node(base + 1)
            case "Function": skip(below: base + 1)
            default: values[name] = value
            }
        }
        return try Self.text(head, values, arguments)
    }

    private static func text(_ head: String, _ values: [String: String], _ arguments: [String]) throws -> String {
        func after(_ name: String?) -> String {
            guard let source = values["Source"], source != "$it" else { return name ?? "" }
            return "\(source)/\(name ?? "")"
        }
        func type(_ text: String?) -> String? {
            text?.split(separator: " ").first.map { $0.filter { !"[]".contains($0) } }
        }
        switch head {
        case "ConvertNode": return values["Source"] ?? ""
        case "AnyNode", "AllNode":
            let name = head == "AnyNode" ? "any" : "all"
            return after("\(name)(\(values["Parameters"] ?? ""):\(values["Body"] ?? ""))")
        case "ParameterAliasNode": return values["Parameter Name"] ?? ""
        case "NamedFunctionParameterNode": return "\(values["Parameter Name"] ?? "")=\(values["Value"] ?? "")"
        case "SearchTermNode": return values["Text"] ?? ""
        case _ where head.hasSuffix("FunctionCallNode"):
            let name = values["Name"] ?? ""
            var arguments = arguments
            if name == "isof" || name == "cast", let last = arguments.popLast() {
                arguments.append(last.filter { $0 != "'" })
            }
            return "\(name)(\(arguments.joined(separator: ",")))"
        case _ where head.hasSuffix("CastNode"):
            return after(
                type(
                    values["Entity Type Reference"] ?? values["Type Reference"] ?? values["Entity Item Type"]
                        ?? values["ItemType"]))
        case _ where head.hasSuffix("RangeVariableReferenceNode"), _ where head.hasSuffix("RangeVariable"):
            return values["Name"] ?? ""
        case _ where head.hasSuffix("Node"):
            return after(values["Property"] ?? values["Navigation Property"] ?? values["Name"])
        default: throw Unknown(text: head)
        }
    }

    private static func constant(_ value: String, _ type: String) -> String {
        if value.isEmpty, !type.contains("Edm.String") { return "null" }
        if type.contains("Edm.String") { return "'\(value)'" }
        if type.contains("Edm.Ge") { return "#geo" }
        if type.contains("Edm.Duration") {
            let parts = value.split(separator: ":").compactMap { Double($0) }
            return "#\(parts.reduce(0) { $0 * 60 + $1 })"
        }
        return "#\(Double(value).map { "\($0)" } ?? value)"
    }
}

// MARK: Our own trees

extension RecordedTree {
    /// Returns the meaning of a parsed option in the same notation; `nil` if it is absent.
    static func meaning(of name: String, in options: QueryOptions) -> String? {
        switch name {
        case "$filter": options.filter.map(text)
        case "$orderby": order(options.orderBy)
        case "$search": options.search.map(text)
        case "$select": options.select.map(text).sorted().joined(separator: ",")
        case "$expand": options.expand.map(text).sorted().joined(separator: ",")
        default: nil
        }
    }

    private static func order(_ items: [OrderItem]) -> String {
        items.map { text($0.expression) + ($0.isDescending ? " desc" : "") }.joined(separator: ",")
    }

    private static func text(_ item: SelectItem) -> String {
        guard case .path(let path) = item.kind else { return "*" }
        // An operation is written without its namespace.
        return path.map { $0.text.split(separator: ".").last.map(String.init) ?? $0.text }.joined(separator: "/")
    }

    private static func text(_ item: ExpandItem) -> String {
        let names = ["$filter", "$orderby", "$search", "$select", "$expand"]
        let options = names.compactMap { name in
            meaning(of: name, in: item.options).flatMap { $0.isEmpty ? nil : "\(name)=\($0)" }
        }
        return "\(item.path.map(\.text).joined(separator: "/"))(\(options.sorted().joined(separator: ";")))"
    }

    private static func text(_ search: SearchExpression) -> String {
        switch search {
        case .word(let text), .phrase(let text): text
        case .not(let inner): "Not(\(text(inner)))"
        case .and(let left, let right): "And(\(text(left)),\(text(right)))"
        case .or(let left, let right): "Or(\(text(left)),\(text(right)))"
        }
    }

    private static let operators: [BinaryOperator: String] = [
        .and: "And", .or: "Or", .equal: "Equal", .notEqual: "NotEqual", .less: "LessThan",
        .lessOrEqual: "LessThanOrEqual", .greater: "GreaterThan", .greaterOrEqual: "GreaterThanOrEqual", .add: "Add",
        .subtract: "Subtract", .multiply: "Multiply", .divide: "Divide", .modulo: "Modulo",
    ]

    private static func text(_ expression: CommonExpression) -> String {
        switch expression {
        case .literal(let literal): text(literal.value)
        case .path(let steps): steps.map(text).joined(separator: "/")
        case .alias(let name): "@\(name.text)"
        case .unary(.not, let inner): "Not(\(text(inner)))"
        case .unary(.negate, let inner): "Negate(\(text(inner)))"
        case .binary(let symbol, let left, let right):
            "\(operators[symbol] ?? symbol.rawValue)(\(text(left)),\(text(right)))"
        case .membership(let operand, in: let list): "In(\(text(operand)),\(text(list)))"
        case .call(let name, let arguments): "\(name.text)(\(arguments.map(text).joined(separator: ",")))"
        case .namedCall(let name, let arguments):
            "\(name.text)(\(arguments.map { "\($0.name.text)=\(text($0.value))" }.joined(separator: ",")))"
        case .typeTest(let test, let operand, let type):
            "\(test.rawValue)(\(operand.map(text) ?? "$it"),\(type.text))"
        case .list(let items): "[\(items.map(text).joined(separator: ","))]"
        case .json(let text): text
        }
    }

    private static func text(_ step: PathStep) -> String {
        switch step {
        case .name(let name), .variable(let name): name.text
        case .call(let name, let arguments): text(.namedCall(name, arguments))
        case .any(let variable, let condition): "any(\(variable?.text ?? ""):\(condition.map(text) ?? ""))"
        case .all(let variable, let condition): "all(\(variable.text):\(text(condition)))"
        case .count: "$count"
        case .filter(let condition): "$filter(\(text(condition)))"
        case .key, .aggregate: "…"
        }
    }

    private static func text(_ value: ODataValue) -> String {
        switch value {
        case .null: "null"
        case .string(let text): "'\(text)'"
        case .geo: "#geo"
        case .duration: "#\(value.lexicalText.flatMap { ODataDuration($0) }.map { Double($0.seconds) } ?? 0)"
        default: "#\(value.lexicalText.flatMap { Double($0).map { "\($0)" } } ?? value.lexicalText ?? "…")"
        }
    }
}

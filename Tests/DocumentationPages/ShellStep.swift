/// A block of shell commands on a page, with the output that the page shows behind it.
///
/// Commands are in a block ` ```sh `, their output in the next block ` ```text `. In the output, a line `…` stands
/// for any lines, `…` inside a line for any text, and runs of spaces count as one.
public struct ShellStep: Equatable, Sendable {
    /// The commands, a line each.
    public var commands: [String]
    /// The output, if the page shows it.
    public var output: [String]?

    /// Creates a step.
    public init(commands: [String], output: [String]? = nil) {
        self.commands = commands
        self.output = output
    }

    /// Whether printed lines are the ones that the page shows; also if it shows none.
    public func shows(_ printed: [String]) -> Bool {
        output.map { Self.matches($0[...], printed[...]) } ?? true
    }

    private static func matches(_ wanted: ArraySlice<String>, _ actual: ArraySlice<String>) -> Bool {
        guard let first = wanted.first else { return actual.isEmpty }
        if words(first) == "…" {
            return (actual.startIndex...actual.endIndex).contains { matches(wanted.dropFirst(), actual[$0...]) }
        }
        guard let line = actual.first, matches(first, line) else { return false }
        return matches(wanted.dropFirst(), actual.dropFirst())
    }

    private static func matches(_ wanted: String, _ actual: String) -> Bool {
        var parts = words(wanted).split(separator: "…", omittingEmptySubsequences: false)
        var rest = words(actual)[...]
        let first = parts.removeFirst()
        guard let last = parts.popLast() else { return rest == first }
        guard rest.hasPrefix(first) else { return false }
        rest = rest.dropFirst(first.count)
        for part in parts {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }

    /// A line with single spaces.
    private static func words(_ line: String) -> String { line.split(separator: " ").joined(separator: " ") }
}

extension DocumentationPage {
    /// The shell blocks of the page, in their order.
    public var shellSteps: [ShellStep] {
        var steps: [ShellStep] = []
        var mayShow = false
        for block in blocks {
            switch block.language {
            case "sh":
                steps.append(ShellStep(commands: block.lines))
                mayShow = true
            case "text" where mayShow:
                steps[steps.count - 1].output = block.lines
                mayShow = false
            default: mayShow = false
            }
        }
        return steps
    }
}

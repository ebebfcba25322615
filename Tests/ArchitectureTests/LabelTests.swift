import Foundation
import Testing

@Suite("The labels of parameters")
struct LabelTests {
    /// The most functions with three or more unlabelled parameters in the package. This number only goes down.
    private static let limit = 60

    private static let modifiers: Set<Substring> = [
        "public", "package", "internal", "private", "fileprivate", "convenience", "required", "override", "nonisolated",
        "mutating", "borrowing",
    ]

    /// The declarations of functions and initializers with three or more unlabelled parameters.
    static func declarations(in lines: [Substring]) -> [String] {
        var found: [String] = []
        for (number, line) in lines.enumerated() {
            guard let name = start(of: line) else { continue }
            let text = line[name...] + "\n" + lines[(number + 1)...].prefix(20).joined(separator: "\n")
            guard let open = text.utf8.firstIndex(of: UInt8(ascii: "(")) else { continue }
            if unlabelled(in: text[open...]) >= 3 {
                found.append("\(number + 1): \(line.drop { $0 == " " })")
            }
        }
        return found
    }

    /// The place of the name of a function or of the word `init` in a line that declares one.
    private static func start(of line: Substring) -> Substring.Index? {
        if let range = line.range(of: "func "),
            range.lowerBound == line.startIndex || line[line.index(before: range.lowerBound)] == " "
        {
            return range.upperBound
        }
        guard let range = line.range(of: "init") else { return nil }
        let isDeclared = line[..<range.lowerBound].split(separator: " ").allSatisfy(modifiers.contains)
        return isDeclared && line[range.upperBound...].first.map("(?!<".contains) == true ? range.lowerBound : nil
    }

    /// Counts the parameters without a label in a list that begins with a parenthesis.
    private static func unlabelled(in text: Substring) -> Int {
        var (depth, count, isAtStart, isQuoted) = (0, 0, false, false)
        var last: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
            defer { last = scalar }
            if scalar == "\"", last != "\\" { isQuoted.toggle() }
            guard !isQuoted else { continue }
            switch scalar {
            case "(", "[", "{":
                depth += 1
                isAtStart = depth == 1
            case ")", "]", "}":
                depth -= 1
                if depth == 0 { return count }
            case "," where depth == 1: isAtStart = true
            case " " where last == "_" && isAtStart:
                count += 1
                isAtStart = false
            case " ", "\n", "_": break
            default: isAtStart = false
            }
        }
        return count
    }

    @Test("unlabelled parameters are counted over all lines of a declaration")
    func counting() {
        let code = """
            func one(_ a: Int, _ b: Int, c: Int) {}
            func two(_ a: Int, _ b: (Int, _ c: Int), text: String = "(, _ x") {}
                private static func three<T>(
                    _ first: [String: Int], at place: Int,
                    _ second: @escaping (Int, Int) -> Void = { _, _ in }, _ third: T
                ) {
            public init(_ a: Int, _ b: Int, _ c: Int) {
            let made = Self.init(1, 2, 3)
            """
        #expect(Self.declarations(in: code.split(separator: "\n")).map { $0.prefix(2) } == ["3:", "7:"])
    }

    @Test("nearly all functions label their parameters from the third one on")
    func labels() throws {
        let found = try SourceFiles.code().flatMap { path, lines in
            Self.declarations(in: lines).map { "\(path):\($0)" }
        }
        #expect(found.count <= Self.limit, "Label the third and later parameters:\n\(found.joined(separator: "\n"))")
    }
}

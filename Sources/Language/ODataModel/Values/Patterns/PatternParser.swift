/// Compiles an ECMAScript regular expression (ECMA-262, 22.2.1 *Patterns*) to a program.
struct PatternParser {
    private let text: String
    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var depth = 0
    /// The maximum nesting depth of groups.
    private static let maxDepth = 50

    /// A node of the syntax tree.
    private indirect enum Node {
        case empty
        case take(CharacterClass)
        case assert(RegularExpression.Anchor)
        case sequence([Node])
        case either([Node])
        /// A repetition between `least` and `most` times; unlimited if `most` is `nil`.
        case repetition(Node, least: Int, most: Int?)
    }

    init(_ text: String) {
        self.text = text
        scalars = Array(text.unicodeScalars)
    }

    /// Returns the compiled pattern.
    mutating func program() throws(RegularExpression.Failure) -> [RegularExpression.Instruction] {
        guard scalars.count <= RegularExpression.maxPatternLength else {
            throw .limit("maxPatternLength")
        }
        let node = try alternatives()
        guard position == scalars.count else { throw refusal }
        var program: [RegularExpression.Instruction] = []
        try Self.emit(node, into: &program)
        program.append(.match)
        return program
    }

    private var refusal: RegularExpression.Failure { .malformed(String(text.prefix(80))) }

    private var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard current == scalar else { return false }
        position += 1
        return true
    }

    private mutating func take(_ word: String) -> Bool {
        let letters = Array(word.unicodeScalars)
        guard scalars[position...].starts(with: letters) else { return false }
        position += letters.count
        return true
    }

    // MARK: Grammar

    private mutating func alternatives() throws(RegularExpression.Failure) -> Node {
        var branches = [try sequence()]
        while take("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : .either(branches)
    }

    private mutating func sequence() throws(RegularExpression.Failure) -> Node {
        var items: [Node] = []
        while let next = current, next != "|", next != ")" {
            let item = try quantified()
            if case .empty = item { continue }
            items.append(item)
        }
        return items.isEmpty ? .empty : .sequence(items)
    }

    private mutating func quantified() throws(RegularExpression.Failure) -> Node {
        let atom = try atom()
        let bounds: (Int, Int?)
        if take("*") {
            bounds = (0, nil)
        } else if take("+") {
            bounds = (1, nil)
        } else if take("?") {
            bounds = (0, 1)
        } else if let counted = try counts() {
            bounds = counted
        } else {
            return atom
        }
        // Greedy and lazy quantifiers have the same effect, because only the existence of a match counts.
        _ = take("?")
        if let next = current, "*+?".unicodeScalars.contains(next) { throw refusal }
        // A part without instructions must not be repeated, because the number of repetitions would be unbounded.
        if case .empty = atom { return .empty }
        return bounds.1 == 0 ? .empty : .repetition(atom, least: bounds.0, most: bounds.1)
    }

    /// Parses `{n}`, `{n,}` or `{n,m}`; returns `nil` and consumes nothing if a brace is a literal character.
    private mutating func counts() throws(RegularExpression.Failure) -> (Int, Int?)? {
        let start = position
        guard take("{"), let least = number() else {
            position = start
            return nil
        }
        var most: Int? = least
        if take(",") { most = number() }
        guard take("}") else {
            position = start
            return nil
        }
        if let most, most < least { throw refusal }
        guard max(least, most ?? 0) <= RegularExpression.maxInstructions else {
            throw .limit("maxInstructions")
        }
        return (least, most)
    }

    private mutating func number() -> Int? {
        let start = position
        while let next = current, CharacterClass.digit.contains(next) { position += 1 }
        // A number with too many digits exceeds every limit.
        return start == position ? nil : Int(String(String.UnicodeScalarView(scalars[start..<position]))) ?? .max
    }

    private mutating func atom() throws(RegularExpression.Failure) -> Node {
        guard let next = current else { throw refusal }
        position += 1
        switch next {
        case "^": return .assert(.start)
        case "$": return .assert(.end)
        case ".": return .take(.any)
        case "(": return try group()
        case "[": return .take(try characterClass())
        case "\\": return try escape()
        case "*", "+", "?": throw refusal
        default: return .take(CharacterClass(ranges: [next.value...next.value]))
        }
    }

    private mutating func group() throws(RegularExpression.Failure) -> Node {
        depth += 1
        guard depth <= Self.maxDepth else { throw refusal }
        defer { depth -= 1 }
        if take("?") {
            if take("<") {
                // The syntax of lookbehind begins in the same way.
                guard let first = current, first != "=", first != "!" else { throw refusal }
                while let next = current, next != ">" {
                    guard CharacterClass.word.contains(next) else { throw refusal }
                    position += 1
                }
                guard take(">") else { throw refusal }
            } else {
                guard take(":") else { throw refusal }
            }
        }
        let inner = try alternatives()
        guard take(")") else { throw refusal }
        return inner
    }

    private mutating func escape() throws(RegularExpression.Failure) -> Node {
        if take("b") { return .assert(.wordBoundary) }
        if take("B") { return .assert(.noWordBoundary) }
        if let next = current, next >= "1", next <= "9" { throw refusal }
        if let characters = try classEscape() { return .take(characters) }
        let scalar = try characterEscape()
        return .take(CharacterClass(ranges: [scalar...scalar]))
    }

    /// Parses `d`, `w`, `s`, `p{…}` or their negations after a backslash; returns `nil` for other escapes.
    private mutating func classEscape() throws(RegularExpression.Failure) -> CharacterClass? {
        guard let letter = current else { throw refusal }
        var characters: CharacterClass
        switch letter {
        case "d", "D": characters = .digit
        case "w", "W": characters = .word
        case "s", "S": characters = .space
        case "p", "P":
            position += 1
            guard take("{") else { throw refusal }
            _ = take("General_Category=") || take("gc=")
            let start = position
            while let next = current, next != "}" { position += 1 }
            let name = String(String.UnicodeScalarView(scalars[start..<position]))
            guard current == "}", let categories = CharacterClass.categories(named: name) else { throw refusal }
            characters = CharacterClass(categories: [categories])
        default: return nil
        }
        position += 1
        characters.isNegated = "DWSP".unicodeScalars.contains(letter)
        return characters
    }

    /// Parses an escape after the backslash and returns its character.
    private mutating func characterEscape() throws(RegularExpression.Failure) -> UInt32 {
        guard let letter = current else { throw refusal }
        position += 1
        switch letter {
        case "t": return 9
        case "n": return 10
        case "v": return 11
        case "f": return 12
        case "r": return 13
        case "0":
            if let next = current, CharacterClass.digit.contains(next) { throw refusal }
            return 0
        case "x": return try hexadecimal(2)
        case "u":
            if take("{") {
                let start = position
                while let next = current, next.properties.isASCIIHexDigit, position - start < 6 { position += 1 }
                let value = UInt32(String(String.UnicodeScalarView(scalars[start..<position])), radix: 16)
                guard take("}"), let value, Unicode.Scalar(value) != nil else { throw refusal }
                return value
            }
            let value = try hexadecimal(4)
            // A pair of surrogates is one character.
            guard (0xD800...0xDBFF).contains(value) else { return value }
            guard take("\\"), take("u") else { throw refusal }
            let low = try hexadecimal(4)
            guard (0xDC00...0xDFFF).contains(low) else { throw refusal }
            return 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        default:
            // Letters and digits without a meaning are reserved for future standards.
            guard !CharacterClass.word.contains(letter) else { throw refusal }
            return letter.value
        }
    }

    private mutating func hexadecimal(_ digits: Int) throws(RegularExpression.Failure) -> UInt32 {
        guard position + digits <= scalars.count else { throw refusal }
        let text = String(String.UnicodeScalarView(scalars[position..<position + digits]))
        guard text.unicodeScalars.allSatisfy(\.properties.isASCIIHexDigit), let value = UInt32(text, radix: 16) else {
            throw refusal
        }
        position += digits
        return value
    }

    // MARK: Brackets

    private mutating func characterClass() throws(RegularExpression.Failure) -> CharacterClass {
        var result = CharacterClass()
        result.isNegated = take("^")
        while !take("]") {
            guard let low = try classMember(into: &result) else { continue }
            guard current == "-", position + 1 < scalars.count, scalars[position + 1] != "]" else {
                result.ranges.append(low...low)
                continue
            }
            position += 1
            guard let high = try classMember(into: &result), high >= low else { throw refusal }
            result.ranges.append(low...high)
        }
        return result
    }

    /// Parses a member of a class and returns its character; returns `nil` if the member is a whole class, which is
    /// added.
    private mutating func classMember(into result: inout CharacterClass) throws(RegularExpression.Failure) -> UInt32? {
        guard let next = current else { throw refusal }
        position += 1
        guard next == "\\" else { return next.value }
        if take("b") { return 8 }
        if take("-") { return 45 }
        guard var inner = try classEscape() else { return try characterEscape() }
        if inner.isNegated {
            inner.isNegated = false
            result.excluded.append(inner)
        } else {
            result.ranges += inner.ranges
            result.categories += inner.categories
        }
        return nil
    }

    // MARK: Program

    private static func emit(_ node: Node, into program: inout [RegularExpression.Instruction]) throws(RegularExpression
        .Failure)
    {
        guard program.count < RegularExpression.maxInstructions else { throw .limit("maxInstructions") }
        switch node {
        case .empty: break
        case .take(let characters): program.append(.take(characters))
        case .assert(let anchor): program.append(.assert(anchor))
        case .sequence(let items): for item in items { try emit(item, into: &program) }
        case .either(let branches):
            var ends: [Int] = []
            for (index, branch) in branches.enumerated() {
                guard index < branches.count - 1 else {
                    try emit(branch, into: &program)
                    break
                }
                let split = program.count
                program.append(.match)
                try emit(branch, into: &program)
                ends.append(program.count)
                program.append(.match)
                program[split] = .split(split + 1, program.count)
            }
            for end in ends { program[end] = .jump(program.count) }
        case .repetition(let inner, let least, let most):
            for _ in 0..<least { try emit(inner, into: &program) }
            guard let most else {
                let split = program.count
                program.append(.match)
                try emit(inner, into: &program)
                program.append(.jump(split))
                program[split] = .split(split + 1, program.count)
                return
            }
            var splits: [Int] = []
            for _ in least..<max(most, least) {
                splits.append(program.count)
                program.append(.match)
                try emit(inner, into: &program)
            }
            for split in splits { program[split] = .split(split + 1, program.count) }
        }
    }
}

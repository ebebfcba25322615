import Synchronization

/// A regular expression that is matched in time that grows with the text's length only.
///
/// The expressions are those of ECMAScript in its Unicode mode, without back references and looking around, which no
/// automaton can do: they are refused. A compiled one is a program whose instructions are the states of a nondeterministic
/// automaton, all of which are followed at once (Thompson 1968): each character of the text takes at most as many steps as
/// there are instructions.
package struct RegularExpression: Sendable {
    /// Why a pattern cannot be matched.
    package enum Failure: Error, Hashable, Sendable {
        /// It is no regular expression of the supported kind.
        case malformed(String)
        /// It, or the match, goes beyond a limit, by the constant's name.
        case limit(String)
    }

    /// The greatest length of a pattern in code points.
    package static let maxPatternLength = 1_000
    /// The greatest number of instructions of a compiled pattern; `{n}` repeats what it is about.
    package static let maxInstructions = 10_000
    /// The greatest number of steps of one match: characters times instructions.
    package static let maxSteps = 20_000_000
    /// How many compiled patterns are kept.
    private static let capacity = 16

    private static let compiled = Mutex<[ExactText: RegularExpression]>([:])

    /// Whether some part of a text matches a pattern, which is compiled once.
    package static func matches(_ text: String, pattern: String) throws(Failure) -> Bool {
        let key = ExactText(pattern)
        if let known = compiled.withLock({ $0[key] }) { return try known.matches(text) }
        let expression = try RegularExpression(pattern)
        compiled.withLock { kept in
            if kept.count >= capacity { kept.removeAll() }
            kept[key] = expression
        }
        return try expression.matches(text)
    }

    /// One instruction.
    enum Instruction: Sendable {
        /// Steps over one character of a class.
        case take(CharacterClass)
        /// Goes on in two places.
        case split(Int, Int)
        /// Goes on elsewhere.
        case jump(Int)
        /// Goes on if the place in the text is such.
        case assert(Anchor)
        /// The pattern has matched.
        case match
    }

    /// What can be asked about a place between characters.
    enum Anchor: Sendable { case start, end, wordBoundary, noWordBoundary }

    let program: [Instruction]

    init(_ text: String) throws(Failure) {
        var parser = PatternParser(text)
        program = try parser.program()
    }

    /// Whether some part of the text matches.
    func matches(_ text: String) throws(Failure) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var current = StateSet(program.count)
        var next = StateSet(program.count)
        var stack: [Int] = []
        var steps = 0
        for index in 0...scalars.count {
            // A match may start anywhere.
            if follow(0, at: index, in: scalars, states: &current, stack: &stack) { return true }
            guard index < scalars.count else { return false }
            steps += current.members.count
            guard steps <= Self.maxSteps else { throw .limit("maxSteps") }
            next.removeAll()
            for state in current.members {
                guard case .take(let characters) = program[state], characters.contains(scalars[index]) else { continue }
                if follow(state + 1, at: index + 1, in: scalars, states: &next, stack: &stack) { return true }
            }
            swap(&current, &next)
        }
        return false
    }

    /// Adds the states that are reached from one without stepping over a character; whether the end is among them.
    private func follow(
        _ start: Int, at index: Int, in scalars: [Unicode.Scalar], states: inout StateSet, stack: inout [Int]
    ) -> Bool {
        stack.append(start)
        while let state = stack.popLast() {
            guard states.insert(state) else { continue }
            switch program[state] {
            case .match:
                stack.removeAll()
                return true
            case .take: break
            case .jump(let target): stack.append(target)
            case .split(let first, let second):
                stack.append(second)
                stack.append(first)
            case .assert(let anchor): if holds(anchor, at: index, in: scalars) { stack.append(state + 1) }
            }
        }
        return false
    }

    private func holds(_ anchor: Anchor, at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        switch anchor {
        case .start: return index == 0
        case .end: return index == scalars.count
        case .wordBoundary, .noWordBoundary:
            let before = index > 0 && CharacterClass.word.contains(scalars[index - 1])
            let after = index < scalars.count && CharacterClass.word.contains(scalars[index])
            return (before != after) == (anchor == .wordBoundary)
        }
    }

    /// A set of states that is emptied in no time.
    private struct StateSet {
        private(set) var members: [Int] = []
        private var generation: [Int]
        private var current = 1

        init(_ count: Int) { generation = [Int](repeating: 0, count: count) }

        mutating func insert(_ state: Int) -> Bool {
            guard generation[state] != current else { return false }
            generation[state] = current
            members.append(state)
            return true
        }

        mutating func removeAll() {
            members.removeAll(keepingCapacity: true)
            current += 1
        }
    }
}

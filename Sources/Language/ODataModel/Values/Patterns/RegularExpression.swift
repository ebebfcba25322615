import Synchronization

/// A regular expression whose matching time is linear in the length of the text.
///
/// The syntax is ECMAScript in Unicode mode without back references and lookaround, which a finite automaton cannot
/// match. The instructions of a compiled expression are the states of a nondeterministic automaton, which are all
/// followed at once (Thompson 1968). Each character of the text takes at most as many steps as there are
/// instructions.
package struct RegularExpression: Sendable {
    /// An error that prevents matching a pattern.
    package enum Failure: Error, Hashable, Sendable {
        /// The pattern is not a supported regular expression.
        case malformed(String)
        /// The pattern or the match exceeds the limit with this name.
        case limit(String)
    }

    /// The maximum length of a pattern in code points.
    package static let maxPatternLength = 1_000
    /// The maximum number of instructions of a compiled pattern; `{n}` repeats instructions.
    package static let maxInstructions = 10_000
    /// The maximum number of steps of one match: characters times instructions.
    package static let maxSteps = 20_000_000
    /// The maximum number of compiled patterns in the cache.
    private static let capacity = 16

    private static let compiled = Mutex<[ExactText: RegularExpression]>([:])

    /// Returns whether a part of a text matches a pattern, whose compiled form is cached.
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

    /// An instruction of a program.
    enum Instruction: Sendable {
        /// Consumes one character of a class.
        case take(CharacterClass)
        /// Continues at two instructions.
        case split(Int, Int)
        /// Continues at another instruction.
        case jump(Int)
        /// Continues if the assertion holds at the current position.
        case assert(Anchor)
        /// Ends the match successfully.
        case match
    }

    /// The assertions about a position between characters.
    enum Anchor: Sendable { case start, end, wordBoundary, noWordBoundary }

    let program: [Instruction]

    init(_ text: String) throws(Failure) {
        var parser = PatternParser(text)
        program = try parser.program()
    }

    /// Returns whether a part of the text matches.
    func matches(_ text: String) throws(Failure) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var current = StateSet(program.count)
        var next = StateSet(program.count)
        var stack: [Int] = []
        var steps = 0
        for index in 0...scalars.count {
            // A match may start at any position.
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

    /// Adds the states that are reachable without consuming a character, and returns whether the final state is
    /// among them.
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

    /// A set of states that is emptied in constant time.
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

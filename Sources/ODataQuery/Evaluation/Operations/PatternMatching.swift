import ODataModel
import Synchronization

/// `matchesPattern`: regular expressions in time that grows with the text's length only.
///
/// The expressions are those of ECMAScript in its Unicode mode, without back references and looking around, which no
/// automaton can do: they are refused. Whatever the pattern, each character of the text takes at most as many steps as
/// the compiled pattern has instructions; there is no backtracking.
public enum PatternMatching {
    /// The greatest length of a pattern in code points.
    public static let maxPatternLength = 1_000
    /// The greatest number of instructions of a compiled pattern; `{n}` repeats what it is about.
    public static let maxInstructions = 10_000
    /// The greatest number of steps of one match: characters times instructions.
    public static let maxSteps = 20_000_000
    /// How many compiled patterns are kept.
    private static let capacity = 16

    private static let patterns = Mutex<[ExactText: Pattern]>([:])

    /// Whether some part of the text matches.
    ///
    /// - Throws: ``EvaluationError/pattern(_:)`` for what is no pattern, ``EvaluationError/limit(_:)`` beyond the limits.
    public static func matches(_ text: String, pattern: String) throws(EvaluationError) -> Bool {
        let key = ExactText(pattern)
        let known = patterns.withLock { $0[key] }
        guard let known else {
            let compiled = try Pattern(pattern)
            patterns.withLock { patterns in
                if patterns.count >= capacity { patterns.removeAll() }
                patterns[key] = compiled
            }
            return try compiled.matches(text)
        }
        return try known.matches(text)
    }
}

/// A compiled pattern: a program whose instructions are the states of a nondeterministic automaton, all of which are
/// followed at once (Thompson 1968).
struct Pattern: Sendable {
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

    init(_ text: String) throws(EvaluationError) {
        var parser = PatternParser(text)
        program = try parser.program()
    }

    /// Whether some part of the text matches.
    func matches(_ text: String) throws(EvaluationError) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var current = StateSet(program.count)
        var next = StateSet(program.count)
        var stack: [Int] = []
        var steps = 0
        for index in 0...scalars.count {
            // A match may start anywhere.
            if follow(0, at: index, in: scalars, &current, &stack) { return true }
            guard index < scalars.count else { return false }
            steps += current.members.count
            guard steps <= PatternMatching.maxSteps else { throw .limit("PatternMatching.maxSteps") }
            next.removeAll()
            for state in current.members {
                guard case .take(let characters) = program[state], characters.contains(scalars[index]) else { continue }
                if follow(state + 1, at: index + 1, in: scalars, &next, &stack) { return true }
            }
            swap(&current, &next)
        }
        return false
    }

    /// Adds the states that are reached from one without stepping over a character; whether the end is among them.
    private func follow(
        _ start: Int, at index: Int, in scalars: [Unicode.Scalar], _ states: inout StateSet, _ stack: inout [Int]
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

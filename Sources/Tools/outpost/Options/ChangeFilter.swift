import ArgumentParser
import ToolLanguage

/// The changes of a clone that a command is about.
struct ChangeFilterOptions: ParsableArguments {
    @Flag(help: .text("Changes that the next push sends.")) var pending = false
    @Flag(help: .text("Changes with a request on its way.")) var sent = false
    @Flag(
        help: .text("Changes that are held: of a copied clone, behind a refused change, or not submitted by their app.")
    )
    var held = false
    @Flag(help: .text("All changes in the error archive: refused ones, conflicts and doubts.")) var failed = false
    @Flag(help: .text("Refused changes of entities that somebody else had changed.")) var conflicts = false
    @Flag(help: .text("Sent changes with an unknown outcome.")) var doubts = false

    var filter: ChangeFilter {
        var parts: Set<ChangeFilter.Part> = []
        if pending { parts.insert(.pending) }
        if sent { parts.insert(.sent) }
        if held { parts.insert(.held) }
        if failed { parts.insert(.failed) }
        if conflicts { parts.insert(.conflicts) }
        if doubts { parts.insert(.doubts) }
        return ChangeFilter(parts: parts)
    }
}

/// The changes that are looked at: those of several parts of the queue and the archive, or all.
struct ChangeFilter: Sendable {
    /// Some of the changes.
    enum Part: Sendable {
        case pending, sent, held, failed, conflicts, doubts
    }

    /// No part stands for every change.
    var parts: Set<Part>

    /// Whether a change in a state is meant.
    func includes(_ state: ChangeList.State) -> Bool {
        guard !parts.isEmpty else { return true }
        return switch state {
        case .pending, .locked: parts.contains(.pending)
        case .sent: parts.contains(.sent)
        case .held, .notSubmitted, .waiting: parts.contains(.held)
        case .refused: parts.contains(.failed)
        case .conflict: !parts.isDisjoint(with: [.failed, .conflicts])
        case .doubt: !parts.isDisjoint(with: [.failed, .doubts])
        }
    }

    /// The sentence for a clone without such changes.
    var absence: TerminalText {
        switch parts {
        case []: "There is no change."
        case [.pending]: "No change is pending."
        case [.sent]: "No change is on its way."
        case [.held]: "No change is held."
        case [.failed]: "No change was refused."
        case [.conflicts]: "There is no conflict."
        case [.doubts]: "No change is in doubt."
        default: "There is no such change."
        }
    }
}

/// The changes in the error archive that a command is about.
struct ArchiveFilter: ParsableArguments {
    @Flag(help: .text("The refused changes of entities that somebody else had changed.")) var conflicts = false
    @Flag(help: .text("The changes with an unknown outcome.")) var doubts = false
}

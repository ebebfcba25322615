import Testing

@testable import Simulation

@Suite("The simulation's verdict on a change")
struct LedgerTests {
    private let ledger = Ledger()

    /// Records a change that was reported to the app.
    private func change(
        _ mark: String, born: String = "born", of client: Int = 1, madeOf base: String? = nil,
        setting values: [String: String] = [:], mayBeFolded: Bool = false
    ) {
        ledger.begin(
            Ledger.Change(
                mark: mark, client: client, text: "test", born: born, parent: nil, base: base, values: values,
                mayBeFolded: mayBeFolded))
        ledger.note(mark, of: client) { $0.isAcknowledged = true }
    }

    /// Returns the history of a service at which some changes acted once each.
    private func history(_ rows: [String: [String: String]] = [:], refusing marks: Set<String> = []) -> ServiceHistory {
        ServiceHistory(
            acts: rows.mapValues { Acts(count: 1, overItself: 0, rows: [$0]) }, births: ["born"], refusals: marks)
    }

    /// Returns the history of a service at which a change acted once, on a row with another mark.
    private func history(_ mark: String, over other: String?) -> ServiceHistory {
        ServiceHistory(acts: [mark: Acts(count: 1, found: [other], rows: [[:]])], births: ["born"])
    }

    private func problems(
        _ history: ServiceHistory, hasVersions: Bool = true, recognisesRepeats: Bool = true, hasChangeSets: Bool = true
    ) -> [String] {
        ledger.violations(
            of: history, hasVersions: hasVersions, isGuarded: true, recognisesRepeats: recognisesRepeats,
            hasChangeSets: hasChangeSets)
    }

    @Test("A missing effect is lost, and a doubled effect is reported")
    func plain() {
        change("a")
        #expect(problems(history()) == ["a of client 1, test, is lost"])
        #expect(problems(history(["a": [:]])) == [])
        var twice = history(["a": [:]])
        twice.acts["a"]?.count = 2
        #expect(problems(twice) == ["a of client 1, test, acted 2 times"])
    }

    @Test("A change may act again if others restored its base version and repeats are not recognised")
    func again() {
        change("a")
        var twice = history(["a": [:]])
        twice.acts["a"]?.count = 2
        twice.acts["a"]?.beforehand = ["Places(P1) first"]
        #expect(problems(twice, recognisesRepeats: false) == [])
        #expect(problems(twice) == ["a of client 1, test, acted 2 times"])
        twice.acts["a"]?.beforehand = ["Places(P1) first", "Places(P1) a"]
        #expect(problems(twice, recognisesRepeats: false) == ["a of client 1, test, acted 2 times"])
    }

    @Test("A deletion acts once for each creation of its entity")
    func deletedTwice() {
        let deletion = Ledger.deletion(of: "a")
        change(deletion, born: "a")
        var twice = history(["a": [:], deletion: [:]])
        twice.acts[deletion]?.count = 2
        #expect(problems(twice) == ["\(deletion) of client 1, test, acted 2 times"])
        twice.acts["a"]?.count = 2
        #expect(problems(twice) == [])
    }

    @Test("A creation may act again if others deleted its entity and repeats are recognised only by value")
    func foundByValue() {
        change("a", born: "a")
        var twice = history(["a": [:], Ledger.deletion(of: "a"): [:]])
        twice.acts["a"]?.count = 2
        twice.acts["a"]?.beforehand = ["Tasks(1) ", "Tasks(2) "]
        #expect(problems(twice, recognisesRepeats: false) == ["a of client 1, test, acted 2 times"])
        ledger.note("a", of: 1) { $0.isFindable = true }
        #expect(problems(twice, recognisesRepeats: false) == [])
        #expect(problems(twice) == ["a of client 1, test, acted 2 times"])
        twice.acts[Ledger.deletion(of: "a")] = nil
        #expect(problems(twice, recognisesRepeats: false) == ["a of client 1, test, acted 2 times"])
    }

    @Test("A change replaces only a version that its user has seen or made")
    func unseen() {
        change("a", madeOf: "seen")
        change("b", madeOf: "a")
        var all = history(["a": [:], "b": [:]])
        func problems(whereTheyFind first: String?, _ second: String?) -> [String] {
            all.acts["a"]?.found = [first]
            all.acts["b"]?.found = [second]
            return self.problems(all)
        }
        let end = "which its user had not seen"
        #expect(problems(whereTheyFind: "seen", "a") == [])
        #expect(problems(whereTheyFind: "seen", "theirs") == ["b of client 1, test, was put over theirs, \(end)"])
        #expect(problems(whereTheyFind: "theirs", "a") == ["a of client 1, test, was put over theirs, \(end)"])
        // The first change may have been folded into the second.
        #expect(problems(whereTheyFind: "seen", "seen") == [])
        // A later change cannot have been seen when the earlier one was made.
        #expect(problems(whereTheyFind: "b", "a") == ["a of client 1, test, was put over b, \(end)"])
        #expect(self.problems(all, hasVersions: false) == [])
        // The row did not exist.
        #expect(problems(whereTheyFind: nil, "a") == [])
        ledger.note("b", of: 1) { $0.shown = ["theirs"] }
        #expect(problems(whereTheyFind: "seen", "theirs") == [])
        #expect(problems(whereTheyFind: "theirs", "a").count == 1)
        ledger.note("a", of: 1) { $0.conflicts = ["theirs"] }
        #expect(problems(whereTheyFind: "theirs", "a") == [])
    }

    @Test("A version that another client of the same user saw does not count")
    func unseenByOne() {
        change("a", madeOf: "seen")
        change("b", of: 2, madeOf: "theirs")
        let both = ServiceHistory(
            acts: [
                "a": Acts(count: 1, found: ["theirs"], rows: [[:]]), "b": Acts(count: 1, found: ["a"], rows: [[:]]),
            ], births: ["born"])
        #expect(problems(both).count == 2)
    }

    @Test("A deletion replaces a version that any of its users saw, and any version if others may have deleted too")
    func unseenDeletion() {
        let mark = Ledger.deletion(of: "born")
        change(mark, madeOf: "seen")
        #expect(problems(history(mark, over: "seen")) == [])
        #expect(problems(history(mark, over: "theirs")).count == 1)
        change(mark, of: 2, madeOf: "theirs")
        #expect(problems(history(mark, over: "theirs")) == [])
        var others = history(mark, over: "unseen")
        #expect(problems(others).count == 2)
        others.deletedByOthers = ["born"]
        #expect(problems(others) == [])
        // The change was undone and made again, based on the row at that time.
        change(mark, madeOf: "unseen")
        #expect(problems(history(mark, over: "unseen")) == [])
    }

    @Test("A creation has an unknown outcome only after a lost response at a forgetful service")
    func doubts() {
        change("a", born: "a")
        let acted = history(["a": [:]])
        ledger.note("a", of: 1) { $0.wasInDoubt = true }
        #expect(ledger.doubts == 1)
        let needless = "a of client 1, test, was in doubt, "
        #expect(problems(acted, recognisesRepeats: false) == [needless + "and every answer to it came"])
        ledger.note("a", of: 1) { $0.wasUnanswered = true }
        #expect(problems(acted, recognisesRepeats: false) == [])
        #expect(problems(acted) == [needless + "and the service would have recognised it"])
        var forgetful = acted
        forgetful.forgotten = ["a"]
        #expect(problems(forgetful) == [])
        ledger.note("a", of: 1) { $0.isFindable = true }
        #expect(problems(acted, recognisesRepeats: false) == [needless + "and what it made could be found"])
    }

    @Test("A harmless change has an unknown outcome only after the service forgot it")
    func harmless() {
        change("a")
        ledger.note("a", of: 1) {
            $0.wasInDoubt = true
            $0.wasUnanswered = true
        }
        var acted = history(["a": [:]])
        let problem = "a of client 1, test, was in doubt, and can be sent again without harm"
        #expect(problems(acted, recognisesRepeats: false) == [problem])
        acted.forgotten = ["a"]
        #expect(problems(acted) == [])
    }

    @Test("An archived change is accounted for only if it was discarded last")
    func archived() {
        change("a")
        ledger.note("a", of: 1) { $0.wasArchivedAsRefused = true }
        let refused = history(refusing: ["a"])
        #expect(problems(refused) == ["a of client 1, test, is lost"])
        ledger.note("a", of: 1) { $0.isGivenUp = true }
        #expect(problems(refused) == [])
        // The change is in the queue again.
        ledger.note("a", of: 1) { $0.isGivenUp = false }
        #expect(problems(refused) == ["a of client 1, test, is lost"])
    }

    @Test("An archived refusal needs a refusal by the service or an earlier change by others")
    func refused() {
        change("a")
        ledger.note("a", of: 1) {
            $0.isGivenUp = true
            $0.wasArchivedAsRefused = true
        }
        let problem = "a of client 1, test, is archived as refused, and the service never refused it"
        #expect(problems(history()) == [problem])
        #expect(problems(history(refusing: ["a"])) == [])
        ledger.note("a", of: 1) { $0.conflicts = ["theirs"] }
        #expect(!problems(history()).isEmpty)
        #expect(problems(history(["theirs": [:]])) == [])
    }

    @Test("A folded change is accounted for if a later change of its entity acted with its values")
    func folded() {
        change("a", setting: ["Title": "A"], mayBeFolded: true)
        change("other", born: "born elsewhere", setting: ["Title": "A"], mayBeFolded: true)
        change("theirs", of: 2, setting: ["Title": "A"])
        let others = ["other": ["Title": "A"], "theirs": ["Title": "A"]]
        #expect(problems(history(others)) == ["a of client 1, test, is lost"])
        change("b", setting: ["Amount": "5"], mayBeFolded: true)
        let without = others.merging(["b": ["Title": "before", "Amount": "5"]]) { $1 }
        #expect(problems(history(without)) == ["a of client 1, test, is lost"])
        let with = others.merging(["b": ["Title": "A", "Amount": "5"]]) { $1 }
        #expect(problems(history(with)) == [])
        // If both changes set a property, only the later value applies.
        change("c", setting: ["Title": "C"], mayBeFolded: true)
        let last = others.merging(["c": ["Title": "C", "Amount": "5"]]) { $1 }
        #expect(problems(history(last)) == [])
        // The service keeps its own values for the properties that the sent change gives up.
        let yielding = history(others.merging(["c": ["Title": "theirs", "Amount": "5"]]) { $1 })
        #expect(problems(yielding) == ["a of client 1, test, is lost"])
        ledger.note("c", of: 1) { $0.yielded = ["Title"] }
        #expect(problems(yielding) == [])
    }

    @Test("A change that was sent separately is not accounted for by a later one")
    func takenUp() {
        change("a", setting: ["Amount": "4"])
        change("b", setting: ["Amount": "5"])
        let later = history(["b": ["Amount": "5"]])
        #expect(problems(later) == ["a of client 1, test, is lost"])
        ledger.note("a", of: 1) { $0.isTakenUp = true }
        #expect(problems(later) == [])
        #expect(problems(history()).count == 2)
        ledger.note("b", of: 1) { $0.isGivenUp = true }
        #expect(problems(history()) == [])
    }

    @Test("A creation deleted before sending needs no report, nor do changes that refer to it")
    func neverWas() {
        change("a", born: "a")
        ledger.begin(
            Ledger.Change(
                mark: "child", client: 1, text: "test", born: "child", parent: "a", values: [:], mayBeFolded: false))
        ledger.note("child", of: 1) { $0.isAcknowledged = true }
        #expect(problems(history()).count == 2)
        change(Ledger.deletion(of: "a"), born: "a", of: 2)
        #expect(problems(history()).count == 3)
        change(Ledger.deletion(of: "a"), born: "a")
        #expect(problems(history()) == [])
        var born = history()
        born.births.insert("a")
        #expect(problems(born).count == 4)
    }
}

@Suite("The simulation's verdict on a change set")
struct LedgerOfSetsTests {
    private let ledger = Ledger()

    /// Records a change that is withdrawn in the end, so that it is missed only because of the changes made
    /// with it.
    private func change(
        _ mark: String, born: String, of client: Int = 1, mayBeFolded: Bool = false, in transaction: Int? = nil
    ) {
        ledger.begin(
            Ledger.Change(
                mark: mark, client: client, text: "test", born: born, parent: nil, values: [:],
                mayBeFolded: mayBeFolded, transaction: transaction))
        ledger.note(mark, of: client) {
            $0.isAcknowledged = true
            $0.isGivenUp = true
        }
    }

    /// Returns the problems of a history in which some changes acted once each.
    private func problems(
        whereActed marks: String..., sentTogether changeSets: Set<[String]> = [], hasChangeSets: Bool = true
    ) -> [String] {
        var history = ServiceHistory(births: ["a", "b"], changeSets: changeSets)
        for mark in marks { history.acts[mark] = Acts(count: 1) }
        return ledger.violations(
            of: history, hasVersions: true, isGuarded: true, recognisesRepeats: true, hasChangeSets: hasChangeSets)
    }

    private let problem = "b1 of client 1, test, did not act, and a1, which was made together with it, did"

    @Test("All changes of a set acted or none, if the service has change sets")
    func together() {
        change("a1", born: "a", in: 1)
        change("b1", born: "b", in: 1)
        change("b2", born: "b", in: 2)
        change("b1", born: "b", of: 2, in: 1)
        #expect(ledger.countTogether == 3)
        #expect(problems() == [])
        #expect(problems(whereActed: "a1", "b1") == [])
        #expect(problems(whereActed: "b2") == [])
        #expect(problems(whereActed: "a1") == [problem])
        #expect(problems(whereActed: "a1", hasChangeSets: false) == [])
    }

    @Test("All requests that were sent together acted or none")
    func sent() {
        change("a1", born: "a")
        change("b1", born: "b")
        #expect(problems(whereActed: "a1") == [])
        #expect(problems(whereActed: "a1", sentTogether: [["a1", "b1"]]) == [problem])
        #expect(problems(whereActed: "a1", "b1", sentTogether: [["a1", "b1"]]) == [])
    }

    @Test("A discarded change need not act, nor one that a later change includes")
    func apart() {
        change("a1", born: "a", in: 1)
        change("b1", born: "b", in: 1)
        ledger.note("a1", of: 1) { $0.isGivenUp = false }
        #expect(problems(whereActed: "a1") == [])
        ledger.note("a1", of: 1) { $0.isGivenUp = true }
        ledger.note("b1", of: 1) { $0.isTakenUp = true }
        #expect(problems(whereActed: "a1") == [problem])
        change("b2", born: "b")
        #expect(problems(whereActed: "a1") == [])
    }

    @Test("A deletion proves nothing if others may have made it")
    func deletions() {
        let deletion = Ledger.deletion(of: "b")
        change("a1", born: "a", in: 1)
        change(deletion, born: "b", in: 1)
        #expect(problems(whereActed: "a1", sentTogether: [["a1", deletion]]).count == 1)
        #expect(problems(whereActed: deletion).count == 1)
        change(deletion, born: "b", of: 2)
        #expect(problems(whereActed: deletion) == [])
    }

    @Test("A refusal or unknown outcome because of another change in the set is justified")
    func mates() {
        change("a1", born: "a")
        change("b1", born: "b")
        ledger.note("a1", of: 1) {
            $0.wasArchivedAsRefused = true
            $0.mates = ["b1"]
        }
        #expect(problems().count == 1)
        ledger.note("b1", of: 1) { $0.conflicts = ["theirs"] }
        #expect(problems(whereActed: "theirs") == [])
        ledger.note("b1", of: 1) {
            $0.wasInDoubt = true
            $0.wasUnanswered = true
            $0.mates = ["a1"]
        }
        let history = ServiceHistory(acts: ["theirs": Acts(count: 1)])
        func doubts(recognisingRepeats: Bool, hasChangeSets: Bool = true) -> [String] {
            ledger.violations(
                of: history, hasVersions: true, isGuarded: true, recognisesRepeats: recognisingRepeats,
                hasChangeSets: hasChangeSets)
        }
        #expect(doubts(recognisingRepeats: false) == [])
        #expect(doubts(recognisingRepeats: true).count == 1)
        #expect(doubts(recognisingRepeats: true, hasChangeSets: false) == [])
    }
}

@Suite("A client's clock in the simulation")
struct ClientClockTests {
    @Test("jumps for a running process")
    func jumps() {
        let time = VirtualTime()
        let clock = ClientClock(time)
        let now: @Sendable () -> Double = { Double(clock.instant.seconds) }
        #expect(now() == time.now)
        clock.set(wrongBy: -100)
        #expect(now() == time.now - 100)
        time.pass(40)
        #expect(now() == time.now - 100)
    }
}

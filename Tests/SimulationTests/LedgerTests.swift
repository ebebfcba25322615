import Testing

@testable import Simulation

@Suite("What became of a change, as the simulation judges it")
struct LedgerTests {
    private let ledger = Ledger()

    /// Makes a change that the app is told of.
    private func change(
        _ mark: String, born: String = "born", of client: Int = 1, setting values: [String: String] = [:],
        mayBeFolded: Bool = false
    ) {
        ledger.begin(
            Ledger.Change(
                mark: mark, client: client, text: "test", born: born, parent: nil, values: values,
                mayBeFolded: mayBeFolded))
        ledger.note(mark, of: client) { $0.isAcknowledged = true }
    }

    /// A service at which some changes acted, once each.
    private func history(_ rows: [String: [String: String]] = [:], refusing marks: Set<String> = []) -> ServiceHistory {
        ServiceHistory(
            acts: rows.mapValues { Acts(count: 1, overItself: 0, rows: [$0]) }, births: ["born"], refusals: marks)
    }

    private func problems(_ history: ServiceHistory, recognisesRepeats: Bool = true) -> [String] {
        ledger.violations(of: history, isGuarded: true, recognisesRepeats: recognisesRepeats)
    }

    @Test("One that did not act is lost, one that did is not, and one that acted twice is named")
    func plain() {
        change("a")
        #expect(problems(history()) == ["a of client 1, test, is lost"])
        #expect(problems(history(["a": [:]])) == [])
        var twice = history(["a": [:]])
        twice.acts["a"]?.count = 2
        #expect(problems(twice) == ["a of client 1, test, acted 2 times"])
    }

    @Test("One may act again where others brought back what it was made of, and repeats are not recognised")
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

    @Test("One that was archived is accounted for only while the last that happened to it is that it was discarded")
    func archived() {
        change("a")
        ledger.note("a", of: 1) { $0.wasArchivedAsRefused = true }
        let refused = history(refusing: ["a"])
        #expect(problems(refused) == ["a of client 1, test, is lost"])
        ledger.note("a", of: 1) { $0.isGivenUp = true }
        #expect(problems(refused) == [])
        // It is seen in the queue again.
        ledger.note("a", of: 1) { $0.isGivenUp = false }
        #expect(problems(refused) == ["a of client 1, test, is lost"])
    }

    @Test("One that is archived as refused was refused by the service, or made of what others had changed")
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

    @Test("One that was folded is accounted for where a later one of its entity acted with what it set")
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
        // What both set, the later one sets alone.
        change("c", setting: ["Title": "C"], mayBeFolded: true)
        let last = others.merging(["c": ["Title": "C", "Amount": "5"]]) { $1 }
        #expect(problems(history(last)) == [])
    }

    @Test("One that is sent by itself, or taken up by none, is not accounted for by a later one")
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

    @Test("Of what never came to be and was deleted here, nothing need be told, nor of what refers to it")
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

@Suite("A client's clock in the simulation")
struct ClientClockTests {
    @Test("jumps for whoever holds it already")
    func jumps() {
        let time = VirtualTime()
        let clock = ClientClock(time)
        let now: @Sendable () -> Double = { clock.now }
        #expect(now() == time.now)
        clock.set(wrongBy: -100)
        #expect(now() == time.now - 100)
        time.pass(40)
        #expect(now() == time.now - 100)
    }
}

import Foundation
import HTTPTypes
import ODataService
import Secrets
import Synchronization
import Testing

@testable import ODataServer

/// Guessing passwords is delayed, and other users are not affected.
@Suite struct SignInTests {
    /// A clock that is advanced by sleeping.
    private final class Clock: Sendable {
        private let start = ContinuousClock.now
        private let passed = Mutex(Duration.zero)
        var now: ContinuousClock.Instant { start + passed.withLock { $0 } }
        func advance(_ time: Duration) { passed.withLock { $0 += time } }
        func sleep(until instant: ContinuousClock.Instant) {
            passed.withLock { $0 = max($0, start.duration(to: instant)) }
        }
    }

    /// The users in the order in which their checks ended.
    private final class Ended: Sendable {
        let users = Mutex<[String]>([])
    }

    private func make() -> (SignInGuard, Clock) {
        let clock = Clock()
        return (SignInGuard(SignInDelays(), now: { clock.now }, sleep: { clock.sleep(until: $0) }), clock)
    }

    /// Tries to sign in and returns the delay, or `nil` if the attempt was refused.
    private func attempt(
        _ guardian: SignInGuard, _ clock: Clock, _ user: String, from address: String = "a", succeeds: Bool = false
    ) async -> Duration? {
        let start = clock.now
        guard await guardian.begin(user, from: address) == nil else { return nil }
        guardian.ended(user, address, hasSucceeded: succeeds)
        return clock.now - start
    }

    @Test("after five failures for a user, each attempt is delayed by 1 to 30 seconds")
    func user() async {
        let (guardian, clock) = make()
        for number in 0..<5 { #expect(await attempt(guardian, clock, "ann", from: "\(number)") == .zero) }
        for seconds in [1, 2, 4, 8, 16, 30, 30] {
            #expect(await attempt(guardian, clock, "ann", from: "x\(seconds)") == .seconds(seconds))
        }
        #expect(await attempt(guardian, clock, "bob", succeeds: true) == .zero, "another user does not wait")
        // A correct password in a delayed attempt ends the delays of its user.
        #expect(await attempt(guardian, clock, "ann", from: "home", succeeds: true) == .seconds(30))
        #expect(await attempt(guardian, clock, "ann", from: "other", succeeds: true) == .zero)
    }

    @Test("failures for several users delay their address, and failures for one user do not")
    func address() async {
        let (guardian, clock) = make()
        for user in ["a", "b", "c", "d", "e"] { #expect(await attempt(guardian, clock, user) == .zero) }
        #expect(await attempt(guardian, clock, "f") == .seconds(1))
        #expect(await attempt(guardian, clock, "g") == .seconds(2))
        #expect(await attempt(guardian, clock, "g", from: "elsewhere") == .zero)
        let (other, time) = make()
        for _ in 0..<9 { _ = await attempt(other, time, "ann") }
        #expect(await attempt(other, time, "bob", succeeds: true) == .zero)
    }

    @Test("failures of others do not delay a user who signed in from the address before")
    func known() async {
        let (guardian, clock) = make()
        #expect(await attempt(guardian, clock, "bob", succeeds: true) == .zero)
        for number in 0..<9 { _ = await attempt(guardian, clock, "u\(number)") }
        #expect(await attempt(guardian, clock, "bob", succeeds: true) == .zero)
        // Failures for the user from another address do not delay the user here either.
        for _ in 0..<9 { _ = await attempt(guardian, clock, "bob", from: "elsewhere") }
        #expect(await attempt(guardian, clock, "bob", succeeds: true) == .zero)
        for _ in 0..<5 { #expect(await attempt(guardian, clock, "bob") == .zero) }
        #expect(await attempt(guardian, clock, "bob") == .seconds(1))
    }

    @Test func `a remembered name has few bytes, however long its characters are`() async {
        let long = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(long.count == 1 && SignInGuard.bounded(long).utf8.count <= 260)
        #expect(SignInGuard.bounded("zoë") == "zoë")
        let (guardian, clock) = make()
        for number in 0..<5 { #expect(await attempt(guardian, clock, long, from: "\(number)") == .zero) }
        #expect(await attempt(guardian, clock, long, from: "x") == .seconds(1))
    }

    @Test("a minute without a failure ends the delays")
    func rest() async {
        let (guardian, clock) = make()
        for _ in 0..<8 { _ = await attempt(guardian, clock, "ann") }
        clock.advance(.seconds(61))
        #expect(await attempt(guardian, clock, "ann") == .zero)
    }

    @Test("concurrent attempts do not avoid the delay: the sixth waits for the others")
    func parallel() async {
        let (guardian, clock) = make()
        for _ in 0..<5 { #expect(await guardian.begin("ann", from: "a") == nil) }
        async let sixth = guardian.begin("ann", from: "a")
        try? await Task.sleep(for: .milliseconds(50))
        for _ in 0..<5 { guardian.ended("ann", "a", hasSucceeded: false) }
        let start = clock.now
        #expect(await sixth == nil)
        #expect(clock.now - start <= .seconds(1))
        guardian.ended("ann", "a", hasSucceeded: false)
        #expect(await attempt(guardian, clock, "ann") == .seconds(2))
    }

    @Test("a sign-in that would have to wait for more than a minute is refused with 429")
    func refused() async throws {
        let clock = Clock()
        // The clock stands still, so all attempts are concurrent.
        let guardian = SignInGuard(SignInDelays(), now: { clock.now }, sleep: { _ in })
        for _ in 0..<5 { _ = await attempt(guardian, clock, "ann") }
        var outcomes: [Bool] = []
        for _ in 0..<8 { outcomes.append(await attempt(guardian, clock, "ann") != nil) }
        #expect(outcomes == [true, true, true, true, true, false, false, false])
        let refusal = try #require(await guardian.begin("ann", from: "a"))
        #expect(refusal.status == .tooManyRequests && refusal.fields[.retryAfter] != nil)
    }

    @Test("users sign in quickly while another user's password is guessed")
    func served() async throws {
        let basic = BasicAuthentication(users: ["ann": "a", "bob": "b"])
        let handler: ODataServer.IdentifiedHandler = { _, _, principal in
            (HTTPResponse(status: .ok), ByteStream(Array((principal?.name ?? "").utf8)))
        }
        func fields(_ user: String, _ password: String) -> HTTPFields {
            [.authorization: "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"]
        }
        try await withServer(.init(authentication: [basic]), handler: handler) { (server: RunningServer) async throws in
            for _ in 0..<5 {
                #expect(try await server.send("/", fields("ann", "wrong")).response.status == .unauthorized)
            }
            let start = ContinuousClock.now
            async let slowed = server.send("/", fields("ann", "wrong"))
            let bob = try await server.send("/", fields("bob", "b"))
            #expect(bob.response.status == .ok)
            #expect(try await slowed.response.status == .unauthorized)
            #expect(ContinuousClock.now - start >= .seconds(1))
        }
    }

    @Test("passwords are checked with scrypt, and a correct one is recognised at once")
    func digests() async throws {
        let cheap = try ScryptParameters(costExponent: 10, blockSize: 8, parallelization: 1)
        let hash = try PasswordHash(of: "s3cret", parameters: cheap)
        let checks = PasswordChecks(["ann": hash], ["eve": "plain"])
        #expect(await checks.verify("ann", "s3cret"))
        #expect(await checks.verify("ann", "s3cret"))
        #expect(await checks.verify("eve", "plain"))
        for (user, password) in [("ann", "s3cre"), ("ann", ""), ("bob", "s3cret"), ("eve", "s3cret"), ("", "")] {
            #expect(await !checks.verify(user, password), "\(user)")
        }
    }

    @Test("many concurrent checks all end")
    func manyChecks() async throws {
        let cheap = try ScryptParameters(costExponent: 10, blockSize: 1, parallelization: 1)
        let hash = try PasswordHash(of: "x", parameters: cheap)
        let checks = PasswordChecks(["a": hash, "b": hash, "c": hash], [:])
        let right = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<60 {
                group.addTask { await checks.verify(["a", "b", "c"][number % 3], number % 2 == 0 ? "x" : "\(number)") }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(right == 30)
    }

    @Test func `checks of users whose sign-ins failed leave a place to other users`() async throws {
        let cost = try ScryptParameters(costExponent: 14, blockSize: 8, parallelization: 1)
        let hash = try PasswordHash(of: "x", parameters: cost)
        let guessed = (0..<6).map { "guessed-\($0)" }
        let checks = PasswordChecks(
            Dictionary(uniqueKeysWithValues: (guessed + ["bob"]).map { ($0, hash) }), [:])
        for user in guessed { #expect(await !checks.verify(user, "first")) }
        let ended = Ended()
        await withTaskGroup(of: Void.self) { group in
            for user in guessed {
                group.addTask {
                    #expect(await !checks.verify(user, "second"))
                    ended.users.withLock { $0.append(user) }
                }
            }
            try? await Task.sleep(for: .milliseconds(10))
            group.addTask {
                #expect(await checks.verify("bob", "x"))
                ended.users.withLock { $0.append("bob") }
            }
        }
        let place = try #require(ended.users.withLock { $0.firstIndex(of: "bob") })
        #expect(place <= 2, "bob was checked after \(place) others")
    }
}

import Foundation
import ServerState
import Testing

@testable import MobileServer

@Suite("Delta tokens of feeds")
struct FeedTokenTests {
    private let keys = ServerKeys.generate()

    private func token(_ kind: FeedToken.Kind = .delta) -> FeedToken {
        FeedToken(
            kind, feed: Array(1...32), configuration: 3, from: 7 << 32 | 5, to: 7 << 32 | 9, position: 7 << 32 | 6,
            witness: FeedWitness(head: 7 << 32 | 9, tag: 0xDEAD_BEEF_0123_4567),
            expires: ServerInstant(rawValue: 1_800_000_000_000_000), incarnation: 7)
    }

    @Test("A token is read back from its text and has 103 bytes")
    func survives() throws {
        for kind in [FeedToken.Kind.delta, .fullNext, .deltaNext] {
            let text = token(kind).text(keys)
            #expect(text.utf8.count == 138)
            #expect(try FeedToken(text, keys) == token(kind))
        }
    }

    @Test("A flipped bit makes a token invalid and never gives another position (review, 13)")
    func bitFlips() throws {
        let bytes = try #require(Data(base64Encoded: standard(token().text(keys)) + "=="))
        #expect(bytes.count == FeedToken.size)
        for bit in 0..<(bytes.count * 8) {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: FeedToken.Refusal.unverifiable, "bit \(bit)") {
                try FeedToken(urlSafe(changed.base64EncodedString()), keys)
            }
        }
    }

    @Test("A token of another server is invalid (review, 13)")
    func otherKeys() {
        #expect(throws: FeedToken.Refusal.unverifiable) { try FeedToken(token().text(.generate()), keys) }
    }

    @Test(
        "A text that is no token has its own error", arguments: ["", "abc", "%00", String(repeating: "!", count: 138)])
    func syntax(text: String) {
        #expect(throws: FeedToken.Refusal.syntax) { try FeedToken(text, keys) }
        #expect(!FeedToken.isForm(text))
    }

    @Test("Any text is refused or is a valid token")
    func fuzz() throws {
        var numbers = SystemRandomNumberGenerator()
        let original = token().text(keys)
        let alphabet = Array("ABCXYZabcxyz0189-_+/=%&?\u{0}é")
        for _ in 0..<5000 {
            var text = Array(original)
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                let index = text.indices.randomElement(using: &numbers) ?? 0
                switch Int.random(in: 0..<3, using: &numbers) {
                case 0: text[index] = alphabet.randomElement(using: &numbers) ?? "A"
                case 1: text.remove(at: index)
                default: text.insert(alphabet.randomElement(using: &numbers) ?? "A", at: index)
                }
            }
            let candidate = String(text)
            guard let found = try? FeedToken(candidate, keys) else { continue }
            // The last character of the text has two bits without meaning.
            #expect(found == token())
        }
    }

    @Test("Two different lists of fields never give the same key (review, 1)")
    func keysOfFeeds() {
        func key(_ destination: String, _ query: String, _ audience: [String] = []) -> [UInt8] {
            FeedKey.make(
                application: "a", destination: destination, query: query, dialect: "v4", language: "", model: [1],
                audience: audience)
        }
        #expect(key("ab", "c") != key("a", "bc"))
        #expect(key("a", "b", ["issuer", "alice"]) != key("a", "b", ["issuera", "lice"]))
        #expect(key("a", "b", ["one", "alice"]) != key("a", "b", ["two", "alice"]))
        #expect(key("a", "b") != key("a", "b", [""]))
        #expect(key("a", "b").count == 32)
    }

    private func standard(_ text: String) -> String { text.replacing("-", with: "+").replacing("_", with: "/") }
    private func urlSafe(_ text: String) -> String {
        text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

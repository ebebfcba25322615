import Testing

@testable import Secrets

@Suite("Passwords as a server keeps them")
struct PasswordHashTests {
    private let cheap = try? ScryptParameters(costExponent: 10, blockSize: 8, parallelization: 1)

    @Test("a digest matches only its password and is a PHC string")
    func matches() throws {
        let hash = try PasswordHash(of: "s3cret: ü", parameters: cheap)
        #expect(hash.text.hasPrefix("$scrypt$ln=10,r=8,p=1$"))
        let again = try PasswordHash(hash.text)
        #expect(try again.matches("s3cret: ü") && again.matches("s3cret: u\u{308}"))
        for wrong in ["s3cret: u", "S3cret: ü", "", "s3cret: ü "] { #expect(try !again.matches(wrong)) }
        #expect(try PasswordHash(of: "s3cret: ü", parameters: cheap).text != hash.text, "the salt is new")
        #expect("\(hash)" == "‹redacted›")
    }

    @Test("a digest of another library is read")
    func foreign() throws {
        // hashlib.scrypt(b"password", salt=b"NaClNaClNaClNaCl", n=1024, r=8, p=16, dklen=32)
        let text = "$scrypt$ln=10,r=8,p=16$TmFDbE5hQ2xOYUNsTmFDbA$ruflYSr7JKwcyP4taFgPBJI7nqmwRVvjonthQb2MSCI"
        #expect(try PasswordHash(text).matches("password"))
        #expect(try !PasswordHash(text).matches("Password"))
    }

    @Test("the cost of a new digest is that of the rules: N = 2^15, r = 8, p = 3")
    func cost() throws {
        let standard = try #require(PasswordHash.standardParameters)
        #expect(standard.costExponent == 15 && standard.blockSize == 8 && standard.parallelization == 3)
    }

    @Test(
        "plain text and digests of another kind are no scrypt digests",
        arguments: [
            "", "hunter2", "$2y$05$abcdefghijklmnopqrstuv", "{SHA}x", "$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA",
            "scrypt$ln=10", "$SCRYPT$ln=10,r=8,p=1$a$b",
        ])
    func others(text: String) { #expect(throws: PasswordHashError.notScrypt) { try PasswordHash(text) } }

    @Test(
        "a digest that is damaged or costs too much is refused before any memory is taken",
        arguments: [
            "$scrypt$", "$scrypt$ln=10,r=8,p=1$", "$scrypt$ln=10,r=8,p=1$AAAAAAAAAAAAAAAA", "$scrypt$r=8,ln=10,p=1$S$D",
            "$scrypt$ln=18,r=8,p=1$S$D", "$scrypt$ln=15,r=32,p=1$S$D$x", "$scrypt$ln=17,r=16,p=1$S$D",
            "$scrypt$ln=9,r=8,p=1$S$D", "$scrypt$ln=10,r=8,p=17$S$D", "$scrypt$ln=10,r=0,p=1$S$D",
            "$scrypt$ln=10,r=8,p=1,x=1$S$D", "$scrypt$ln=-1,r=8,p=1$S$D", "$scrypt$ln=10,r=8,p=1$AAAA$D",
            "$scrypt$ln=10,r=8,p=1$S$AAAA", "$scrypt$ln=10,r=8,p=1$S$D=", "$scrypt$ln=10,r=8,p=1$S!$D",
        ])
    func damaged(text: String) {
        let text = text.replacing("S$", with: "AAAAAAAAAAAAAAAAAAAAAA$")
            .replacing("$D", with: "$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
        let error = #expect(throws: PasswordHashError.self) { try PasswordHash(text) }
        #expect(error != .notScrypt)
    }

    @Test("a password is at least one character and at most 1,024 bytes")
    func lengths() throws {
        for password in ["", String(repeating: "x", count: 1025)] {
            #expect(throws: PasswordHashError.passwordLength(bytes: password.utf8.count)) {
                try PasswordHash(of: password, parameters: cheap)
            }
        }
        let longest = String(repeating: "x", count: 1024)
        let hash = try PasswordHash(of: longest, parameters: cheap)
        #expect(try hash.matches(longest) && !hash.matches(longest + "x"))
    }
}

/// Reads a whole rollback journal as a playback does, and tells where it is not as it was written.
struct JournalReader {
    private static let recordSize = 4 + FileFormat.pageSize + 4

    private let content: [UInt8]
    private let cipher: PageCipher
    private let sealer: PageSealer

    init(content: [UInt8], cipher: PageCipher) {
        self.content = content
        self.cipher = cipher
        sealer = cipher.sealer(for: .journal)
    }

    /// The first place that is not as it was written, where a playback would end; nil when there is none.
    ///
    /// A journal that begins with zeros is not read: it was kept after a commit, or not made durable before the crash.
    var firstDamage: (offset: Int, expected: EncryptedDatabase.Damage.Expectation)? {
        guard content.count >= JournalHeader.size, content[..<12].contains(where: { $0 != 0 }) else { return nil }
        var at = 0
        while at + JournalHeader.size <= content.count,
            at == 0 || content[at..<(at + JournalHeader.magic.count)].elementsEqual(JournalHeader.magic)
        {
            guard headerIsWhole(at) else { return (at, .journalHeader) }
            let records = integer(at: at + 8)
            let seed = integer(at: at + 12)
            at += JournalHeader.size
            for _ in 0..<records {
                guard recordIsWhole(at, seed: seed) else { return (at, .journalRecord) }
                at += Self.recordSize
            }
            at = (at + JournalHeader.size - 1) / JournalHeader.size * JournalHeader.size
        }
        return nil
    }

    private func headerIsWhole(_ at: Int) -> Bool {
        content[at..<(at + JournalHeader.size)].withUnsafeBytes {
            $0[..<JournalHeader.magic.count].elementsEqual(JournalHeader.magic)
                && JournalHeader.isSealed($0, at: Int64(at), with: cipher)
                && $0[JournalHeader.sealedSize...].allSatisfy { $0 == 0 }
        }
    }

    private func recordIsWhole(_ at: Int, seed: UInt32) -> Bool {
        guard at + Self.recordSize <= content.count else { return false }
        let start = at + 4
        let place = PageCipher.Place(kind: .journal, offset: Int64(start), journalPage: integer(at: at))
        var page = [UInt8](repeating: 0, count: FileFormat.pageSize)
        let isOpen = page.withUnsafeMutableBytes { target in
            content[start..<(start + FileFormat.pageSize)].withUnsafeBytes { sealed in
                guard let target = target.baseAddress, let sealed = sealed.baseAddress else { return false }
                return cipher.withAssociatedData(of: place) { sealer.open(sealed, authenticating: $0, to: target) }
            }
        }
        // SQLite's checksum is of every 200th byte, from behind.
        let sum = stride(from: FileFormat.pageSize - 200, to: 0, by: -200).reduce(seed) { $0 &+ UInt32(page[$1]) }
        let end = start + FileFormat.pageSize
        let nonce = (UInt64(integer(at: start)) << 32 | UInt64(integer(at: start + 4)), integer(at: start + 8))
        return isOpen && integer(at: end) ^ cipher.journalMask(offset: Int64(end), nonce: nonce) == sum
    }

    private func integer(at offset: Int) -> UInt32 {
        content[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

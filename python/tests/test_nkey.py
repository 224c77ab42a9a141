from pathlib import Path

import pytest

from voltbus._nkey import Key
from voltbus.errors import Corrupt, NotFound

# RFC 8032, 7.1: secret, public, message, signature.
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize(("secret", "public", "message", "signature"), VECTORS)
def test_a_signature_is_the_one_of_the_standard(
    secret: str, public: str, message: str, signature: str
) -> None:
    key = Key(bytes.fromhex(secret))
    assert key.public_bytes.hex() == public
    assert key.sign(bytes.fromhex(message)).hex() == signature


def test_a_seed_is_read_as_it_was_written(tmp_path: Path) -> None:
    key = Key.new()
    (tmp_path / "key.nk").write_text(key.seed + "\n")
    assert key.seed.startswith("SU")
    assert key.public.startswith("U")
    assert Key.read(tmp_path / "key.nk").public == key.public


def test_a_seed_with_a_typing_error_is_told_as_such(tmp_path: Path) -> None:
    seed = Key.new().seed
    wrong = seed[:10] + ("A" if seed[10] != "A" else "B") + seed[11:]
    (tmp_path / "key.nk").write_text(wrong)
    with pytest.raises(Corrupt, match=r"key\.nk.*checksum"):
        Key.read(tmp_path / "key.nk")
    with pytest.raises(Corrupt, match="seed of an agent"):
        Key.parse(Key.new().public)
    with pytest.raises(NotFound, match="register"):
        Key.read(tmp_path / "absent.nk")

